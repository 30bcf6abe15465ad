#include "sinks/gitlab/gitlab.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_gitlab(const SinkSettings& settings) {
    const auto& section = settings.sections.get<GitlabSection>();
    std::map<std::string, std::string> namespaces;
    for (const auto& [path, token] : section.namespaces) namespaces[path] = token.reveal();
    return std::make_unique<GitlabSink>(GitlabSettings{.api_url = section.api_url,
                                                       .token = section.token.reveal(),
                                                       .namespaces = std::move(namespaces),
                                                       .mac_key = settings.mac_key,
                                                       .version = settings.version,
                                                       .budget = section.budget});
}

}  // namespace

const SinkDescriptor& gitlab_sink() {
    static const SinkDescriptor descriptor{
        .name = "gitlab",
        .sections = {gitlab_section()},
        .shapes = gitlab_shapes(),
        .wanted = {"", gitlab_members()},
        .describe = describe_place<GitlabTarget>,
        .same = same_place<GitlabTarget>,
        .make = make_gitlab,
        .form =
            R"({"project": 4455 or "group/name", "iid": 7, "kind": "issue" or "merge_request", "discussion_id": "…"?, )"
            R"("mode_of_post": "update"?, "note_id": 9?, "notify": true?})"};
    return descriptor;
}

}  // namespace epilogue
