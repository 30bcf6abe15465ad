// A platform that misbehaves as told, a GitHub sink for it, a post to its issue 7.
#pragma once

#include <string>
#include <utility>

#include "sinks/format/marker.h"
#include "sinks/github/github.h"
#include "tests/unit/sinks/sink_fixture.h"

namespace epilogue::github_test {

using namespace std::chrono_literals;
using namespace epilogue::sink_test;
using fake_platform::bot_login;

inline const std::string mark = marker_line("key", id);
inline const std::string repo = "octo/cat";
inline const std::string place = "octo/cat#7";

inline GithubSettings settings_for(const FakePlatformServer& platform) {
    return {.api_url = platform.url("/github"), .token = "token", .mac_key = "key", .version = "0.1.0"};
}

inline Post post_to(std::string repository, std::int64_t number) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = GithubTarget{.repo = std::move(repository),
                                   .number = number,
                                   .review_comment_id = {},
                                   .installation_id = {}},
            .body = "**Finished**\n\nAll done — 🚀\n\n" + mark,
            .intent_at = system_now()};
}

/// A platform, a sink for it, a post to issue 7.
struct Fixture : SinkFixture<GithubSink> {
    Fixture() : SinkFixture(settings_for, post_to(repo, 7)) {}

    void answers(const std::string& method, int status, const std::string& message,
                 const Json& headers = Json::object()) {
        SinkFixture::answers(method, status, {{"message", message}}, headers);
    }
    std::int64_t seed(const std::string& author, const std::string& body, Instant at = system_now()) {
        fake_platform::Comment comment;
        comment.platform = "github";
        comment.place = place;
        comment.author = author;
        comment.body = body;
        comment.created_at = at;
        comment.updated_at = at;
        return platform.seed(std::move(comment));
    }
};

}  // namespace epilogue::github_test
