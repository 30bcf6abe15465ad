// A GitLab that misbehaves as told, a sink for it, a post to its issue 4455#7.
#pragma once

#include <string>
#include <utility>

#include "sinks/format/marker.h"
#include "sinks/gitlab/gitlab.h"
#include "tests/unit/sinks/sink_fixture.h"

namespace epilogue::gitlab_test {

using namespace std::chrono_literals;
using namespace epilogue::sink_test;
using fake_platform::bot_login;

inline const std::string mark = marker_line("key", id);
inline const std::string issue = "4455#7";
inline const std::string discussion = "6a9c1750b37d513a43987b574953fceb50b03ce7";

inline GitlabSettings settings_for(const FakePlatformServer& platform) {
    return {.api_url = platform.url("/gitlab"), .token = "token", .mac_key = "key", .version = "0.1.0"};
}

inline Post post_to(std::string project, std::int64_t iid, bool merge_request = false,
                    std::string in_discussion = "") {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = GitlabTarget{.project = std::move(project),
                                   .iid = iid,
                                   .merge_request = merge_request,
                                   .discussion_id = std::move(in_discussion)},
            .body = "**Finished**\n\nAll done — 🚀\n\n" + mark,
            .intent_at = system_now()};
}

struct Fixture : SinkFixture<GitlabSink> {
    Fixture() : SinkFixture(settings_for, post_to("4455", 7)) {}

    std::int64_t seed(const std::string& author, const std::string& body, Instant at = system_now(),
                      const std::string& thread = "") {
        fake_platform::Comment comment;
        comment.platform = "gitlab";
        comment.place = issue;
        comment.author = author;
        comment.body = body;
        comment.thread = thread;
        comment.created_at = at;
        return platform.seed(std::move(comment));
    }
};

}  // namespace epilogue::gitlab_test
