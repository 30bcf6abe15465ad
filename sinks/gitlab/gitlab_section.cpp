#include "sinks/gitlab/gitlab_section.h"

namespace epilogue {

ConfigSection gitlab_section() {
    return {"gitlab",
            "Posts to GitLab issues and merge requests.",
            {
                {"api_url", required_url(place(&GitlabSection::api_url)), "Base URL of the REST API."},
                {"token", secret(place(&GitlabSection::token)),
                 "Access token that may write comments, also of projects that have none of their own below, "
                 "and of "
                 "those that are named by their number."},
                {"budget", budget(place(&GitlabSection::budget)),
                 "Notes with this token, of all workers together. \"auto\": what GitLab.com publishes "
                 "(60/min) when api_url is on https://gitlab.com; no limit elsewhere (a GitLab of one's "
                 "own has its own). Waiting times that GitLab asks for are always kept."},
                {"namespaces",
                 named_tokens(place(&GitlabSection::namespaces),
                              "tables [gitlab.namespaces.\"<path>\"] with one key, token",
                              "# [gitlab.namespaces.\"group/sub\"]\n# token = \"env:GITLAB_TOKEN_OF_SUB\"\n"),
                 "Access tokens of groups and projects, by their path: the longest that fits is used."},
            },
            [](const Config& config) {
                const auto& gitlab = config.extensions.get<GitlabSection>();
                return !gitlab.token.empty() || !gitlab.namespaces.empty();
            }};
}

}  // namespace epilogue
