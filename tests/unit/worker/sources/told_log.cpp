#define BOOST_TEST_MODULE told_log
#include "worker/sources/told_log.h"

#include <boost/test/unit_test.hpp>

#include "agent/last_words.h"
#include "tests/agent/fake_agent_server.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

const std::string conversation = "11111111-2222-4333-8444-555555555555";

/// What hinders when its server, or what stands before that, answers with this status.
LogReadError hindrance_of(int status) {
    FakeAgentServer server;
    server.on("GET /" + conversation, [=](const auto&) { return fake_platform::json_reply(status, "{}"); });
    return look_once(agent::ConversationCalls(server.client(), conversation), 10s).value();
}

tl::expected<ServerLog, LogReadError> told_by(const FakeAgentServer& server) {
    const agent::ConversationCalls calls(server.client(), conversation);
    return told_log(calls, agent::ConversationCalls::Clock::now() + 10s);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_gateway_answers_for_a_server_that_is_away_is_no_log_that_cannot_be_read) {
    for (const int status : {502, 503, 504}) {
        const LogReadError error = hindrance_of(status);
        BOOST_TEST((error.why == Hindrance::unreachable), status);
        BOOST_TEST(error.text.find(" does not answer its gateway (") != std::string::npos, error.text);
    }
    const LogReadError error = hindrance_of(500);
    BOOST_TEST((error.why == Hindrance::failed));
    BOOST_TEST(error.text.find(" cannot read the conversation's log (") != std::string::npos, error.text);
}

BOOST_AUTO_TEST_CASE(each_answer_hinders_in_its_own_way) {
    for (const auto& [status, why] :
         {std::pair(401, Hindrance::unauthorised), std::pair(404, Hindrance::unknown),
          std::pair(422, Hindrance::unknown), std::pair(409, Hindrance::failed)})
        BOOST_TEST((hindrance_of(status).why == why), status);
    FakeAgentServer server;
    server.add(conversation);
    BOOST_TEST(!look_once(agent::ConversationCalls(server.client(), conversation), 10s));
}

BOOST_AUTO_TEST_CASE(a_log_comes_as_the_worker_reads_it_and_as_it_was_written) {
    FakeAgentServer server;
    server.add(conversation,
               {message_event("u1", 1, "user", "Mend it."), message_event("a1", 2, "agent", "Done."),
                R"({"kind":"OfLater","id":"x1","source":"environment","timestamp":"2026-11-21T08:00:03"})",
                status_event("s1", 4, "finished")},
               "finished");
    const auto told = told_by(server);
    BOOST_REQUIRE(told);
    BOOST_TEST(told->status == "finished");
    BOOST_TEST(told->events.front().id == "u1");
    BOOST_TEST(told->events.back().id == "s1");
    const agent::ConversationCalls calls(server.client(), conversation);
    const auto written = told_events(calls, agent::ConversationCalls::Clock::now() + 10s);
    BOOST_REQUIRE(written);
    std::vector<std::string> ids;
    for (const agent::EventRef& event : *written) ids.push_back(event->id);
    BOOST_TEST(ids == (std::vector<std::string>{"u1", "a1", "x1", "s1"}), boost::test_tools::per_element());
    BOOST_TEST(agent::message_text(*written->at(1)) == "Done.");
}

BOOST_AUTO_TEST_CASE(the_status_is_asked_for_after_the_log_so_that_it_holds_for_all_of_it) {
    FakeAgentServer server;
    server.add(conversation, {message_event("u1", 1, "user", "Mend it.")}, "running");
    BOOST_REQUIRE(told_by(server));
    const auto seen = server.seen();
    BOOST_REQUIRE(seen.size() >= 2U);
    BOOST_TEST(seen.at(seen.size() - 2).find("/events/search") != std::string::npos);
    BOOST_TEST(seen.back().find("/events") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_read_says_why_for_people) {
    FakeAgentServer server;
    server.add(conversation);
    server.on("GET /events/search", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    const auto told = told_by(server);
    BOOST_REQUIRE(!told);
    BOOST_TEST((told.error().why == Hindrance::failed));
    BOOST_TEST(told.error().text.find("cannot read the conversation's log") != std::string::npos);
}
