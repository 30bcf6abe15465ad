#include "sinks/github/github_section.h"

namespace epilogue {

ConfigSection github_section() {
    return {"github",
            "Posts to GitHub issues and pull requests.",
            {
                {"api_url", required_url(place(&GithubSection::api_url)), "Base URL of the REST API."},
                {"token", secret(place(&GithubSection::token)), "Access token that may write comments."},
                {"budget", budget(place(&GithubSection::budget)),
                 "Comments with this token, of all workers together. \"auto\": what GitHub publishes "
                 "(1/s 80/min 500/h) when api_url is https://api.github.com; no limit elsewhere (a GitHub "
                 "Enterprise Server has none unless its operators set one). Waiting times that GitHub "
                 "asks for are always kept."},
            },
            [](const Config& config) { return !config.extensions.get<GithubSection>().token.empty(); }};
}

}  // namespace epilogue
