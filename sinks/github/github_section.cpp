#include "sinks/github/github_section.h"

namespace epilogue {

namespace {

std::optional<SettingProblem> contradiction_of(const Config& config) {
    const auto& github = config.extensions.get<GithubSection>();
    const bool has_key = !github.private_key.empty();
    if (github.app_id != 0 && !github.token.empty())
        return SettingProblem{"app_id", "token is set, too: posts are an App's or a token's, remove one"};
    if (github.app_id != 0 && !has_key)
        return SettingProblem{"app_id", "private_key is missing: make one where the App is registered"};
    if (github.app_id == 0 && has_key)
        return SettingProblem{"private_key", "app_id is missing: it stands where the App is registered"};
    return {};
}

}  // namespace

ConfigSection github_section() {
    return {"github",
            "Posts to GitHub issues and pull requests.",
            {
                {"api_url", required_url(place(&GithubSection::api_url)), "Base URL of the REST API."},
                {"token", secret(place(&GithubSection::token)),
                 "Access token that may write comments. An App posts without one:"},
                {"app_id", number(place(&GithubSection::app_id), 0, 999'999'999'999),
                 "GitHub App that posts, instead of a token: it is installed where it posts, may read and "
                 "write Issues and Pull requests, and asks for its installations' tokens itself. 0: none."},
                {"private_key", rsa_key(place(&GithubSection::private_key)),
                 "The App's private key, as GitHub makes it (PEM)."},
                {"budget", budget(place(&GithubSection::budget)),
                 "Comments with this token, or of each installation, of all workers together. \"auto\": what "
                 "GitHub publishes "
                 "(1/s 80/min 500/h) when api_url is https://api.github.com; no limit elsewhere (a GitHub "
                 "Enterprise Server has none unless its operators set one). Waiting times that GitHub "
                 "asks for are always kept."},
            },
            [](const Config& config) {
                const auto& github = config.extensions.get<GithubSection>();
                return !github.token.empty() || github.app_id != 0;
            },
            contradiction_of};
}

}  // namespace epilogue
