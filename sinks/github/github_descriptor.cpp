#include "sinks/github/github.h"
#include "sinks/github/github_section.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_github(const SinkSettings& settings) {
    const auto& section = settings.sections.get<GithubSection>();
    return std::make_unique<GithubSink>(GithubSettings{.api_url = section.api_url,
                                                       .token = section.token.reveal(),
                                                       .app_id = section.app_id,
                                                       .private_key = section.private_key.reveal(),
                                                       .mac_key = settings.mac_key,
                                                       .version = settings.version,
                                                       .budget = section.budget,
                                                       .now = settings.now});
}

}  // namespace

const SinkDescriptor& github_sink() {
    static const SinkDescriptor descriptor{
        .name = "github",
        .sections = {github_section()},
        .shapes = github_shapes(),
        .wanted = {"", github_members()},
        .describe = describe_place<GithubTarget>,
        .same = same_place<GithubTarget>,
        .make = make_github,
        .form = R"({"repo": "owner/name", "number": 42, "review_comment_id": 7?, )"
                R"("mode_of_post": "update"?, "comment_id": 9?, "notify": true?})"};
    return descriptor;
}

}  // namespace epilogue
