// A GitLab that misbehaves as told, a sink for it, a post to its issue 4455#7.
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
#include "sinks/gitlab.h"
#include "sinks/marker.h"

namespace epilogue::gitlab_test {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using standin::bot_login;
using Ids = std::vector<std::string>;

inline const std::string id = "2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11";
inline const std::string mark = marker_line("key", id);
inline const std::string issue = "4455#7";
inline const std::string discussion = "6a9c1750b37d513a43987b574953fceb50b03ce7";

inline Instant system_now() {
    return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

inline std::string text_of(std::int64_t number) {
    return fmt::format("{}", number);
}

inline GitlabSettings settings_for(const StandIn& platform) {
    return {.api_url = platform.url("/gitlab"),
            .token = "token",
            .mac_key = "key",
            .http_timeout = 5s,
            .version = "0.1.0"};
}

inline Post post_to(std::string project, std::int64_t iid, bool merge_request = false,
                    std::string in_discussion = "") {
    return {.delivery_id = id,
            .conversation_id = "c",
            .target = GitlabTarget{.project = std::move(project),
                                   .iid = iid,
                                   .merge_request = merge_request,
                                   .discussion_id = std::move(in_discussion)},
            .body = "**Finished**\n\nAll done — 🚀\n\n" + mark,
            .intent_at = system_now()};
}

struct Fixture {
    StandIn platform;
    GitlabSink sink{settings_for(platform)};
    Post post = post_to("4455", 7);

    /// What becomes of the next request that fits.
    void rule(Json rule) { platform.rules(Json::array({std::move(rule)}).dump()); }
    void answers(const std::string& method, int status, const Json& answer,
                 const Json& headers = Json::object()) {
        rule({{"method", method},
              {"do", "status"},
              {"status", status},
              {"headers", headers},
              {"answer", answer}});
    }
    std::int64_t seed(const std::string& author, const std::string& body, Instant at = system_now(),
                      const std::string& thread = "") {
        standin::Comment comment;
        comment.platform = "gitlab";
        comment.place = issue;
        comment.author = author;
        comment.body = body;
        comment.thread = thread;
        comment.created_at = at;
        return platform.seed(std::move(comment));
    }
    Ids found() {
        const auto sighting = sink.find(post);
        BOOST_TEST(sighting.looked, sighting.cause);
        Ids ids;
        for (const auto& receipt : sighting.seen) ids.push_back(receipt.remote_id);
        return ids;
    }
};

}  // namespace epilogue::gitlab_test
