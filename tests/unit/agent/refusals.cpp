// What becomes of calls that a server refuses or fails at, against a stand-in.
#define BOOST_TEST_MODULE agent_refusals
#include <algorithm>
#include <atomic>
#include <future>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "agent/calls.h"
#include "agent/last_words.h"
#include "tests/agent/fake_agent_server.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Kind = AgentError::Kind;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

ConversationCalls calls_of(const FakeAgentServer& server) {
    return {server.client(), id};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_message_that_is_kept_although_the_run_is_refused_is_said_to_be_kept) {
    FakeAgentServer server;
    server.add(id);
    const auto refuse = [&](const std::string& detail) {
        server.on("POST /events", [detail](const auto&) {
            return fake_platform::json_reply(429, Json{{"detail", detail}}.dump());
        });
        return calls_of(server).send_message("hello", true).error();
    };
    const AgentError saved = refuse("Message saved, but the conversation run limit was reached.");
    BOOST_TEST((saved.kind == Kind::overloaded));
    BOOST_TEST(saved.maybe_done);
    BOOST_TEST(saved.text.find("the message itself is saved: do not send it again") != std::string::npos,
               saved.text);
    const AgentError silent = refuse("Too many requests.");
    BOOST_TEST(silent.maybe_done);
    BOOST_TEST(silent.text.find("the message itself may be saved") != std::string::npos, silent.text);
    // Without a run nothing was begun.
    BOOST_TEST(!calls_of(server).send_message("hello").error().maybe_done);
}

BOOST_AUTO_TEST_CASE(a_read_or_a_question_that_the_server_fails_at_has_done_nothing) {
    FakeAgentServer server("1.7.3");
    server.add(id);
    const auto fail = [](const auto&) { return fake_platform::json_reply(500, "{}"); };
    server.on("GET /events/search", fail);
    server.on("POST /ask_agent", fail);
    server.on("POST /generate_title", fail);
    server.on("POST /events", fail);
    BOOST_TEST(!calls_of(server).events().error().maybe_done);
    BOOST_TEST(!calls_of(server).ask_agent("?").error().maybe_done);
    BOOST_TEST(!calls_of(server).generate_title().error().maybe_done);
    BOOST_TEST(calls_of(server).send_message("hello").error().maybe_done);
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_is_refused_and_never_sent) {
    FakeAgentServer server("1.7.3");
    server.add(id);
    const std::string broken = "caf\xe9";
    BOOST_TEST((calls_of(server).send_message(broken).error().kind == Kind::invalid));
    BOOST_TEST(calls_of(server).send_message(broken).error().text == "the message is not valid UTF-8");
    BOOST_TEST((calls_of(server).ask_agent(broken).error().kind == Kind::invalid));
    BOOST_TEST((calls_of(server).respond(false, broken).error().kind == Kind::invalid));
    BOOST_TEST((calls_of(server).set_title(broken).error().kind == Kind::invalid));
    BOOST_TEST((calls_of(server).update_secrets({{"A", Secret(broken)}}).error().kind == Kind::invalid));
    BOOST_TEST(server.seen().empty());
}

BOOST_AUTO_TEST_CASE(a_read_that_is_refused_for_want_of_room_is_made_again_when_the_server_wants_it) {
    FakeAgentServer server;
    server.add(id);
    std::atomic<int> tries = 0;
    const auto refuse = [&](int status, const std::string& wait) {
        tries = 0;
        server.on("GET " + id, [&tries, status, wait](const auto&) {
            if (++tries == 3) return fake_platform::json_reply(200, "{}");
            auto reply = fake_platform::json_reply(status, "{}");
            if (!wait.empty()) reply.headers.emplace_back("Retry-After", wait);
            return reply;
        });
    };
    for (const int status : {429, 503}) {
        refuse(status, "1");
        BOOST_TEST(calls_of(server).info().value() == "{}");
        BOOST_TEST(tries == 3);
    }
    refuse(429, "");
    BOOST_TEST(calls_of(server).info().value() == "{}");
    // It wants more than is left, or says nothing: the caller has to know.
    refuse(429, "3600");
    const AgentError later = calls_of(server).info().error();
    BOOST_TEST((later.kind == Kind::overloaded));
    BOOST_TEST((later.retry_after == 1h));
    BOOST_TEST(!later.maybe_done);
    BOOST_TEST(tries == 1);
    refuse(429, "Fri, 31 Dec 2100 23:59:59 GMT");
    BOOST_TEST((calls_of(server).info().error().retry_after == 24h));
    refuse(503, "");
    BOOST_TEST((calls_of(server).info().error().kind == Kind::server_error));
    BOOST_TEST(tries == 1);
}

BOOST_AUTO_TEST_CASE(a_read_that_waits_for_room_ends_when_it_is_closed) {
    FakeAgentServer server;
    server.add(id);
    std::promise<void> asked;
    server.on("GET " + id, [&](const auto&) {
        asked.set_value();
        auto reply = fake_platform::json_reply(429, "{}");
        reply.headers.emplace_back("Retry-After", "20");
        return reply;
    });
    ConversationCalls calls(server.client(), id);
    auto answer = std::async(std::launch::async, [&] { return calls.info(); });
    asked.get_future().wait();
    calls.close();
    BOOST_TEST((answer.get().error().kind == Kind::closed));
}

BOOST_AUTO_TEST_CASE(last_words_are_the_servers_own_or_those_of_the_newest_events) {
    FakeAgentServer server;
    std::vector<std::string> log{message_event("first", 0, "agent", "long ago")};
    for (int i = 1; i < 250; ++i) log.push_back(message_event("e" + std::to_string(i), i, "user", "x"));
    server.add(id, log);
    BOOST_TEST(last_words_of(calls_of(server)).value() == "long ago");
    BOOST_TEST(server.bodies("GET /agent_final_response").size() == 1U);
    const auto searches = [](const FakeAgentServer& asked) {
        const auto seen = asked.seen();
        return std::count_if(seen.begin(), seen.end(), [](const std::string& each) {
            return each.find("/search") != std::string::npos;
        });
    };
    BOOST_TEST(searches(server) == 0);
    FakeAgentServer old("1.7.3");
    old.add(id, log);
    BOOST_TEST(last_words_of(calls_of(old)).value() == "long ago");
    log.push_back(message_event("last", 300, "agent", "just now"));
    old.add(id, log);
    const auto before = searches(old);
    BOOST_TEST(last_words_of(calls_of(old)).value() == "just now");
    BOOST_TEST(searches(old) == before + 1);
}
