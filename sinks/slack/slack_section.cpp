#include "sinks/slack/slack_section.h"

namespace epilogue {

ConfigSection slack_section() {
    return {
        "slack",
        "Posts to Slack.",
        {
            {"api_url", required_url(place(&SlackSection::api_url)), "Base URL of the Web API."},
            {"token", secret(place(&SlackSection::token)),
             "Bot token, also of workspaces that have none of their own below."},
            {"budget", budget(place(&SlackSection::budget)),
             "Messages to one channel, of all workers together. \"auto\": what Slack publishes (1/s) when "
             "api_url is Slack's own, no limit elsewhere. Waiting times that Slack asks for are always "
             "kept."},
            {"teams",
             named_tokens(place(&SlackSection::teams), "tables [slack.teams.<team_id>] with one key, token",
                          "# [slack.teams.T0123456789]\n# token = \"env:SLACK_TOKEN_OTHER_TEAM\"\n"),
             "Bot tokens of more workspaces."},
        },
        [](const Config& config) {
            const auto& slack = config.extensions.get<SlackSection>();
            return !slack.token.empty() || !slack.teams.empty();
        }};
}

}  // namespace epilogue
