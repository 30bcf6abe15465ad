#include "sinks/gitlab/gitlab_section.h"

namespace epilogue {

ConfigSection gitlab_section() {
    return {"gitlab",
            "Posts to GitLab issues and merge requests.",
            {
                {"api_url", required_url(place(&GitlabSection::api_url)), "Base URL of the REST API."},
                {"token", secret(place(&GitlabSection::token)), "Access token that may write comments."},
                {"budget", budget(place(&GitlabSection::budget)),
                 "Notes with this token, of all workers together. \"auto\": what GitLab.com publishes "
                 "(60/min) when api_url is on https://gitlab.com; no limit elsewhere (a GitLab of one's "
                 "own has its own). Waiting times that GitLab asks for are always kept."},
            },
            [](const Config& config) { return !config.extensions.get<GitlabSection>().token.empty(); }};
}

}  // namespace epilogue
