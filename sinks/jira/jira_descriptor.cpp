#include "sinks/jira/jira.h"
#include "sinks/jira/jira_section.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_jira(const SinkSettings& settings) {
    const auto& section = settings.sections.get<JiraSection>();
    return std::make_unique<JiraSink>(JiraSettings{.api_url = section.api_url,
                                                   .email = section.email,
                                                   .token = section.token.reveal(),
                                                   .mac_key = settings.mac_key,
                                                   .version = settings.version,
                                                   .budget = section.budget});
}

}  // namespace

const SinkDescriptor& jira_sink() {
    static const SinkDescriptor descriptor{.name = "jira",
                                           .sections = {jira_section()},
                                           .shapes = jira_shapes(),
                                           .wanted = {"", jira_members()},
                                           .describe = describe_place<JiraTarget>,
                                           .same = same_place<JiraTarget>,
                                           .make = make_jira,
                                           .form = R"({"issue_key": "PROJ-12"})"};
    return descriptor;
}

}  // namespace epilogue
