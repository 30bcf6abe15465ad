#include <map>
#include <utility>

#include "sinks/linear/linear.h"
#include "sinks/linear/linear_section.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_linear(const SinkSettings& settings) {
    const auto& section = settings.sections.get<LinearSection>();
    std::map<std::string, std::string> workspaces;
    for (const auto& [name, token] : section.workspaces) workspaces[name] = token.reveal();
    return std::make_unique<LinearSink>(LinearSettings{.api_url = section.api_url,
                                                       .token = section.token.reveal(),
                                                       .workspaces = std::move(workspaces),
                                                       .version = settings.version,
                                                       .budget = section.budget});
}

}  // namespace

const SinkDescriptor& linear_sink() {
    static const SinkDescriptor descriptor{
        .name = "linear",
        .sections = {linear_section()},
        .shapes = linear_shapes(),
        .wanted = {"", linear_members()},
        .describe = describe_place<LinearTarget>,
        .same = same_place<LinearTarget>,
        .make = make_linear,
        .form = R"({"issue_key": "ENG-12" or "issue_id": "UUID", "workspace_name": "…"?})"};
    return descriptor;
}

}  // namespace epilogue
