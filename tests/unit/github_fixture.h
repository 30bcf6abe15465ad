// A platform that misbehaves as told, a GitHub sink for it, a post to its issue 7.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "ops/standin/standin.h"
#include "sinks/github.h"
#include "sinks/marker.h"

namespace epilogue::github_test {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using standin::bot_login;

inline const std::string id = "2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11";
inline const std::string mark = marker_line("key", id);
inline const std::string repo = "octo/cat";
inline const std::string place = "octo/cat#7";

inline Instant system_now() {
    return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

inline GithubSettings settings_for(const StandIn& platform) {
    return {.api_url = platform.url("/github"),
            .token = "token",
            .mac_key = "key",
            .http_timeout = 5s,
            .version = "0.1.0"};
}

inline Post post_to(std::string repository, std::int64_t number) {
    return {.delivery_id = id,
            .conversation_id = "c",
            .target = GithubTarget{.repo = std::move(repository),
                                   .number = number,
                                   .review_comment_id = {},
                                   .installation_id = {}},
            .body = "**Finished**\n\nAll done — 🚀\n\n" + mark,
            .intent_at = system_now()};
}

/// A platform, a sink for it, a post to issue 7.
struct Fixture {
    StandIn platform;
    GithubSink sink{settings_for(platform)};
    Post post = post_to(repo, 7);

    /// What becomes of the next request of this method.
    void rule(Json rule) { platform.rules(Json::array({std::move(rule)}).dump()); }
    void answers(const std::string& method, int status, const std::string& message,
                 const Json& headers = Json::object()) {
        rule({{"method", method},
              {"do", "status"},
              {"status", status},
              {"headers", headers},
              {"answer", {{"message", message}}}});
    }
    std::int64_t seed(const std::string& author, const std::string& body, Instant at = system_now()) {
        standin::Comment comment;
        comment.platform = "github";
        comment.place = place;
        comment.author = author;
        comment.body = body;
        comment.created_at = at;
        comment.updated_at = at;
        return platform.seed(std::move(comment));
    }
    std::vector<std::string> found() {
        const auto sighting = sink.find(post);
        BOOST_TEST(sighting.looked, sighting.cause);
        std::vector<std::string> ids;
        for (const auto& receipt : sighting.seen) ids.push_back(receipt.remote_id);
        return ids;
    }
};

inline std::string text_of(std::int64_t number) {
    return fmt::format("{}", number);
}
using Ids = std::vector<std::string>;

}  // namespace epilogue::github_test
