#define BOOST_TEST_MODULE agent_witness
#include "worker/sources/agent_server_source.h"

#include <thread>

#include <boost/test/unit_test.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = FinalMessageReply::Kind;

const ConversationId id{"0123456789abcdef0123456789abcdef"};

/// A turn that u1 opened and s2 ended, with a message on the way and a finish that could not be parsed.
std::vector<std::string> log_of_a_turn() {
    return {message_event("u1", 1, "user", "go on"), status_event("s1", 2, "running"),
            message_event("m1", 3, "agent", "halfway"), finish_event("f1", 4, std::nullopt),
            status_event("s2", 5, "finished")};
}

AgentServerSource source_at(std::shared_ptr<const agent::AgentServer> server) {
    return AgentServerSource([server = std::move(server)](const ConversationId&)
                                 -> Result<std::shared_ptr<const agent::AgentServer>> { return server; });
}

FinalMessageReply ask(const FakeAgentServer& there, bool lacks_words = false,
                      const std::string& key = "key") {
    AgentServerSource source = source_at(there.client(key));
    return source.ask({{id, TurnKey("u1")}, "s2", lacks_words}, 30s, std::stop_token{});
}

fake_platform::Reply final_response(const fake_platform::Request&) {
    return fake_platform::json_reply(200, R"({"response":"all of it"})");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_offers_the_final_response_is_asked_for_it) {
    FakeAgentServer there("1.58.0");
    there.add(id, log_of_a_turn(), "finished");
    there.on("GET /agent_final_response", final_response);
    const FinalMessageReply reply = ask(there);
    BOOST_TEST((reply.kind == Kind::confirmed));
    BOOST_TEST(reply.words == "all of it");
}

BOOST_AUTO_TEST_CASE(an_older_server_confirms_and_its_events_are_read_only_for_words_that_lack) {
    FakeAgentServer there("1.7.3");
    there.add(id, log_of_a_turn(), "finished");
    BOOST_TEST((ask(there).kind == Kind::confirmed));
    BOOST_TEST(ask(there).words == "");
    for (const std::string& line : there.seen()) BOOST_TEST(line.find("/events") == std::string::npos);
    const FinalMessageReply reply = ask(there, true);
    BOOST_TEST((reply.kind == Kind::confirmed));
    BOOST_TEST(reply.words == "halfway");
}

BOOST_AUTO_TEST_CASE(words_of_an_earlier_turn_are_not_this_ones) {
    const std::vector<std::string> log{
        message_event("u0", 0.1, "user", "hello"), message_event("m0", 0.2, "agent", "long ago"),
        status_event("s0", 0.3, "finished"),       message_event("u1", 1, "user", "go on"),
        status_event("s1", 2, "running"),          status_event("s2", 5, "finished")};
    for (const char* version : {"1.7.3", "1.58.0"}) {
        FakeAgentServer there(version);
        there.add(id, log, "finished");
        there.on("GET /agent_final_response", final_response);
        const FinalMessageReply reply = ask(there, true);
        BOOST_TEST((reply.kind == Kind::confirmed));
        BOOST_TEST(reply.words == "");
    }
}

BOOST_AUTO_TEST_CASE(a_conversation_that_runs_again_confirms_nothing) {
    for (const char* status : {"running", "idle", "error", "paused"}) {
        FakeAgentServer there;
        there.add(id, log_of_a_turn(), status);
        BOOST_TEST((ask(there).kind == Kind::not_confirmed));
    }
}

BOOST_AUTO_TEST_CASE(a_later_end_is_another_turns) {
    for (const char* version : {"1.7.3", "1.58.0"}) {
        FakeAgentServer there(version);
        std::vector<std::string> log = log_of_a_turn();
        log.push_back(message_event("u2", 6, "user", "and now?"));
        log.push_back(status_event("s3", 7, "running"));
        log.push_back(finish_event("f2", 8, "the next one's"));
        log.push_back(status_event("s4", 9, "finished"));
        there.add(id, log, "finished");
        BOOST_TEST((ask(there, true).kind == Kind::not_confirmed));
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_or_does_not_know_it_is_no_witness) {
    FakeAgentServer there;
    BOOST_TEST((ask(there).kind == Kind::refused));
    there.add(id, log_of_a_turn(), "finished");
    BOOST_TEST((ask(there, false, "another key").kind == Kind::refused));
    there.on("GET /agent_final_response", [](const auto&) { return fake_platform::json_reply(200, "[]"); });
    BOOST_TEST((ask(there).kind == Kind::refused));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_away_is_unreachable) {
    std::shared_ptr<const agent::AgentServer> client;
    {
        const FakeAgentServer there;
        client = there.client();
    }
    AgentServerSource source = source_at(client);
    BOOST_TEST((source.ask({{id, TurnKey("u1")}, "s2", false}, 30s, {}).kind == Kind::unreachable));
}

BOOST_AUTO_TEST_CASE(a_server_that_hangs_is_given_up_in_time) {
    FakeAgentServer there;
    const HeldRequests requests;
    there.add(id, log_of_a_turn(), "finished");
    there.on("GET " + id, requests.handler());
    AgentServerSource source = source_at(there.client());
    BOOST_TEST((source.ask({{id, TurnKey("u1")}, "s2", false}, 300ms, {}).kind == Kind::late));
}

BOOST_AUTO_TEST_CASE(who_is_to_stop_does_not_wait_for_a_server) {
    FakeAgentServer there;
    const HeldRequests requests;
    there.add(id, log_of_a_turn(), "finished");
    there.on("GET " + id, requests.handler());
    AgentServerSource source = source_at(there.client());
    std::stop_source stop;
    const std::jthread stopper([&] {
        requests.wait_held();
        stop.request_stop();
    });
    BOOST_TEST(
        (source.ask({{id, TurnKey("u1")}, "s2", false}, 10min, stop.get_token()).kind == Kind::stopped));
}

BOOST_AUTO_TEST_CASE(a_conversation_without_a_server_has_no_witness) {
    AgentServerSource source = source_at(nullptr);
    BOOST_TEST(source.server_of(id).value() == "");
    BOOST_TEST((source.ask({{id, TurnKey("u1")}, "s2", false}, 30s, {}).kind == Kind::refused));
}
