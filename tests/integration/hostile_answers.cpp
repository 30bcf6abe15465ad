// Answers nested so deep that a copy of them would end a worker: of a conversation's agent server, of GitLab
// and of Slack. The worker lives, and each post comes or says why it does not.
#define BOOST_TEST_MODULE hostile_answers
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
namespace fake_platform = epilogue::fake_platform;
using Json = nlohmann::json;

constexpr std::size_t depth = 100'000;

std::string in_depth(const std::string& before, const std::string& after) {
    return before + std::string(depth, '[') + std::string(depth, ']') + after;
}

/// A turn as an agent server tells it; its finish could not be parsed, so that the server is asked for the
/// words.
std::vector<Record> turn_of(const std::string& id) {
    std::vector<Record> records;
    for (const std::string& event :
         {message_event(id + "-u1", 1, "user", "go on"), status_event(id + "-s1", 2, "running"),
          finish_event(id + "-f1", 3, std::nullopt), status_event(id + "-s2", 4, "finished")})
        records.push_back({.key = id, .value = event});
    return records;
}

std::string state_of(const Rig& rig, const std::string& sink) {
    return rig.query("SELECT state FROM deliveries WHERE sink='" + sink + "'").at(0).at(0).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(
    answers_nested_a_hundred_thousand_deep_end_no_worker_and_each_post_comes_or_says_why_not) {
    FakeAgentServer agents;
    const std::string id = "deep-words";
    agents.add(id, {}, "finished");
    const auto hostile = [](const auto&) {
        return fake_platform::json_reply(200, in_depth(R"({"response":)", "}"));
    };
    agents.on("GET /agent_final_response", hostile);
    agents.on("GET /events/search", hostile);
    const Rig rig("hostile_answers", 1,
                  {{"agent_server.url", agents.url()},
                   {"agent_server.session_api_key", "key"},
                   {"summary.deadline_s", 600},
                   {"worker.settle_ms", 100}});
    rig.platform().rules(Json::array({{{"do", "status"},
                                       {"method", "POST"},
                                       {"path", "^/gitlab/"},
                                       {"status", 422},
                                       {"answer", in_depth(R"({"message":)", "}")},
                                       {"times", -1}},
                                      {{"do", "apply_then_status"},
                                       {"method", "POST"},
                                       {"path", "chat.postMessage"},
                                       {"status", 200},
                                       {"answer", in_depth(R"({"ok":true,"ts":"1.2","message":)", "}")}},
                                      {{"do", "status"},
                                       {"path", "conversations.(history|replies)"},
                                       {"status", 200},
                                       {"answer", in_depth(R"({"ok":true,"messages":)", "}")}}}));
    rig.add_github(id, "octo/deep", 1, "once");
    rig.add_callback({"--conversation", id, "--processor", "gitlab", "--processor-json",
                      R"({"project": "a/b", "iid": 7, "kind": "issue"})"});
    rig.add_callback(
        {"--conversation", id, "--processor", "slack", "--processor-json", R"({"channel": "C0DEEP"})"});
    auto worker = rig.epilogue().worker();
    rig.publish(turn_of(id));

    eventually("the posts are sent in the log's words, or refused", [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state IN ('SENT', 'FAILED')") == 3;
    });
    BOOST_TEST(state_of(rig, "github") == "SENT");
    BOOST_TEST(state_of(rig, "slack") == "SENT");
    BOOST_TEST(state_of(rig, "gitlab") == "FAILED");
    BOOST_TEST(rig.query("SELECT cause FROM deliveries WHERE sink='gitlab'").at(0).at(0).value() == "422");
    BOOST_TEST(!agents.bodies("GET /agent_final_response").empty());
    std::size_t asked_for_deep_pages = 0;
    for (const auto& entry : rig.platform().log())
        if (contains(entry.at("path").get<std::string>(), "conversations.") && entry.at("action") == "status")
            ++asked_for_deep_pages;
    BOOST_TEST(asked_for_deep_pages == 1U);
    const auto posts = rig.platform().visible();
    BOOST_TEST(posts.size() == 2U);
    BOOST_TEST(worker.process().stop(std::chrono::seconds{30}) == 0);
}
