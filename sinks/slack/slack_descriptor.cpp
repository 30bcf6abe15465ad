#include "sinks/port/descriptor.h"
#include "sinks/slack/slack.h"
#include "sinks/slack/slack_section.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_slack(const SinkSettings& settings) {
    const auto& section = settings.sections.get<SlackSection>();
    std::map<std::string, std::string> teams;
    for (const auto& [team, token] : section.teams) teams[team] = token.reveal();
    return std::make_unique<SlackSink>(SlackSettings{.api_url = section.api_url,
                                                     .token = section.token.reveal(),
                                                     .teams = std::move(teams),
                                                     .version = settings.version,
                                                     .budget = section.budget});
}

}  // namespace

const SinkDescriptor& slack_sink() {
    static const SinkDescriptor descriptor{
        .name = "slack",
        .sections = {slack_section()},
        .shapes = slack_shapes(),
        .wanted = {"", slack_members()},
        .describe = describe_place<SlackTarget>,
        .same = same_place<SlackTarget>,
        .make = make_slack,
        .form = R"({"channel": "C…", "thread_ts": "…"?, "team_id": "T…"?, )"
                R"("mode_of_post": "update"?, "message_ts": "…"?, "notify": true?})"};
    return descriptor;
}

}  // namespace epilogue
