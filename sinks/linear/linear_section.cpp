#include "sinks/linear/linear_section.h"

namespace epilogue {

ConfigSection linear_section() {
    return {
        "linear",
        "Posts to Linear issues.",
        {
            {"api_url", required_url(place(&LinearSection::api_url)), "URL of the GraphQL API."},
            {"token", secret(place(&LinearSection::token)),
             "API key or OAuth token that may read and write comments, also of workspaces that have none "
             "of their own below. A row that names its issue by the key alone, and a workspace, is posted "
             "with that workspace's token and no other."},
            {"budget", budget(place(&LinearSection::budget)),
             "Comments with one token, of all workers together. \"auto\": what Linear publishes (1500/h) "
             "when api_url is Linear's own, no limit elsewhere. Waiting times that Linear asks for are "
             "always kept."},
            {"workspaces",
             named_tokens(place(&LinearSection::workspaces),
                          "tables [linear.workspaces.\"<name>\"] with one key, token",
                          "# [linear.workspaces.\"acme\"]\n# token = \"env:LINEAR_TOKEN_OF_ACME\"\n"),
             "Tokens of more workspaces, by what rows call them: workspace_name."},
        },
        [](const Config& config) {
            const auto& linear = config.extensions.get<LinearSection>();
            return !linear.token.empty() || !linear.workspaces.empty();
        }};
}

}  // namespace epilogue
