// The remote conversation, against a stand-in.
#define BOOST_TEST_MODULE agent_conversation
#include <algorithm>
#include <atomic>
#include <future>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/process/ports.h"
#include "base/process/temp_dir.h"
#include "conversation_fixture.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Kind = AgentError::Kind;

BOOST_AUTO_TEST_CASE(what_was_there_and_what_comes_is_in_the_list_and_told_once) {
    FakeAgentServer server;
    server.add(id, numbered(230));
    SeenEvents seen;
    const auto conversation = attached(server, fast(&seen));
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)), boost::test_tools::per_element());
    server.emit(id, message_event("live", 1000, "agent", "x"));
    eventually("the live one", [&] { return seen.seen().size() == 231; });
    BOOST_TEST(seen.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_made_early_and_written_late_stands_where_the_server_has_it) {
    for (const auto& [version, order] : {std::pair("1.22.0", std::vector<std::string>{"1", "stats", "2"}),
                                         {"1.22.1", {"1", "2", "stats"}}}) {
        FakeAgentServer server(version);
        server.add(id, {message_event("1", 1, "agent", "x")});
        SeenEvents seen;
        const auto conversation = attached(server, fast(&seen));
        server.emit(id, message_event("2", 3, "agent", "x"));
        server.emit(id, state_event("stats", 2, "stats", "{}"));
        eventually("all of it", [&] { return seen.seen().size() == 3; });
        BOOST_TEST_CONTEXT(version) {
            BOOST_TEST(ids_of(conversation->events()) == order, boost::test_tools::per_element());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_a_socket_tells_in_another_order_stands_where_it_was_written_once_the_log_is_read) {
    for (const char* const version : {"1.7.3", "1.22.1"}) {
        FakeAgentServer server(version);
        server.add(id, numbered(2));
        SeenEvents seen;
        const auto conversation = attached(server, fast(&seen));
        server.emit(id, message_event("live", 100, "agent", "x"));
        eventually("a live one",
                   [&] { return seen.seen().size() == 3 && conversation->reconcile(patience); });
        const auto later = {message_event("a", 101, "agent", "x"), message_event("b", 102, "agent", "x"),
                            message_event("c", 103, "agent", "x")};
        for (const std::string& event : later) server.append(id, event);
        // A subscription repeats what stands in the log while what is new is told already.
        server.tell(id, *(later.end() - 1));
        for (const std::string& event : later) server.tell(id, event);
        eventually("all of it", [&] { return seen.seen().size() == 6; });
        BOOST_TEST(conversation->reconcile(patience).has_value());
        BOOST_TEST_CONTEXT(version) {
            BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)),
                       boost::test_tools::per_element());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_is_told_between_subscription_and_log_is_neither_missed_nor_doubled) {
    FakeAgentServer server;
    server.add(id, numbered(10));
    server.on_socket([&](const std::string&, fake_platform::SocketPeer& peer) {
        for (const std::string& event : numbered(3)) peer.send(event);  // a resend that overlaps
        return true;
    });
    SeenEvents seen;
    const auto conversation = attached(server, fast(&seen));
    eventually("all of it", [&] { return seen.seen().size() >= 10; });
    server.emit(id, message_event("after", 1000, "agent", "x"));
    eventually("and one more", [&] { return !seen.seen().empty() && seen.seen().back() == "after"; });
    BOOST_TEST(seen.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_happened_while_the_socket_was_down_is_there_after_it_came_back) {
    FakeAgentServer server;
    server.add(id, numbered(2));
    SeenEvents seen;
    const auto conversation = attached(server, fast(&seen));
    for (int round = 0; round < 5; ++round) {
        server.end_sockets([&](fake_platform::SocketPeer& peer) {
            if (round % 2 == 0)
                peer.drop();
            else
                peer.close(1000);
        });
        server.append(id, message_event("missed" + std::to_string(round), 100 + round, "agent", "x"));
        eventually("the missed one",
                   [&] { return conversation->events().contains("missed" + std::to_string(round)); });
        eventually("a socket", [&] { return server.sockets(id) == 1; });
    }
    eventually("all told", [&] { return seen.seen().size() == 7; });
    BOOST_TEST(seen.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_any_socket_rest_alone_tells_everything) {
    FakeAgentServer server;
    server.add(id, numbered(3));
    server.refuse_sockets(502);
    play_run(server, "finished");
    SeenEvents seen;
    const auto conversation = attached(server, fast(&seen));
    const auto end = conversation->run();
    BOOST_TEST(end.value().status == "finished");
    BOOST_TEST(!conversation->is_live());
    BOOST_TEST(conversation->state().value().execution_status() == "finished");
    BOOST_TEST(seen.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_read_now_is_read_later) {
    FakeAgentServer server;
    server.add(id, numbered(5));
    std::atomic<int> tries = 0;
    server.on("GET /events/search", [&](const auto&) {
        if (++tries == 5) server.on("GET /events/search", {});
        return fake_platform::json_reply(500, R"({"detail":"Internal Server Error"})");
    });
    const auto conversation = attached(server);
    eventually("the log", [&] { return conversation->events().size() == 5; });
    BOOST_TEST(conversation->is_live());
}

BOOST_AUTO_TEST_CASE(a_log_that_the_server_has_lost_hides_neither_the_end_of_a_run_nor_its_reason) {
    FakeAgentServer server("1.7.3");
    server.add(id);
    const auto lost = [](const auto&) {
        return fake_platform::json_reply(
            500, R"({"detail":"Internal Server Error","exception":"events/event-00006"})");
    };
    server.on("GET /events/search", lost);
    server.on("GET /events/count", lost);
    play_run(server, "error", "the backend exploded");
    const auto conversation = attached(server);
    BOOST_TEST(conversation->run().value().reason == "Code: the backend exploded");
    BOOST_TEST(conversation->events().size() == server.log(id).size());
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_read_is_given_up_with_the_reason_and_what_comes_is_told) {
    FakeAgentServer server;
    server.add(id, numbered(3));
    std::atomic<int> tries = 0;
    server.on("GET /events/search", [&](const auto&) {
        ++tries;
        return fake_platform::json_reply(500, R"({"exception":"event-00001 is no JSON"})");
    });
    Deadlines deadlines;
    deadlines.log_pause = 1ms;
    auto made = RemoteConversation::attach(server.client(std::nullopt, deadlines), id, fast());
    const auto conversation = std::move(made.value());
    eventually("eight tries", [&] { return tries == 8; });
    eventually("the reason", [&] { return conversation->log_fault().has_value(); });
    BOOST_TEST(conversation->log_fault()->text.ends_with("event-00001 is no JSON"));
    server.emit(id, message_event("live", 1000, "agent", "x"));
    eventually("the live one", [&] { return conversation->events().contains("live"); });
    BOOST_TEST(tries == 8);
    server.on("GET /events/search", {});
    eventually("the log, when it is asked for", [&] { return conversation->reconcile(10s).has_value(); });
    BOOST_TEST(conversation->events().size() == 4U);
    BOOST_TEST(!conversation->log_fault().has_value());
}

BOOST_AUTO_TEST_CASE(a_socket_that_tells_nothing_of_what_happens_is_noticed) {
    FakeAgentServer server;
    server.add(id, numbered(2));
    SeenEvents seen;
    ConversationOptions options = fast(&seen);
    options.look_after = 50ms;
    const auto conversation = attached(server, std::move(options));
    server.append(id, message_event("untold", 100, "agent", "x"));
    eventually("what was not told", [&] { return conversation->events().contains("untold"); });
    const auto sockets = [&] {
        const auto lines = server.seen();
        return std::count_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return line.starts_with("SOCKET"); });
    };
    eventually("another socket", [&] { return sockets() == 2 && server.sockets(id) == 1; });
    eventually("all told", [&] { return seen.seen().size() == 3; });
    server.emit(id, message_event("live", 200, "agent", "x"));
    eventually("the live one", [&] { return conversation->events().contains("live"); });
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_deleted_is_noticed) {
    FakeAgentServer server;
    server.add(id, numbered(2));
    ConversationOptions options = fast();
    options.look_after = 50ms;
    const auto conversation = attached(server, std::move(options));
    BOOST_TEST(conversation->calls().remove().has_value());
    eventually("the end", [&] { return conversation->ended().has_value(); });
    BOOST_TEST((conversation->ended()->kind == Kind::not_found));
    BOOST_TEST(!conversation->is_live());
}

BOOST_AUTO_TEST_CASE(who_only_runs_a_conversation_does_not_read_its_log) {
    FakeAgentServer server;
    server.add(id, numbered(300));
    server.append(id, message_event("wish", 500, "user", "Please"));
    server.on_run([&](const std::string& conversation) {
        server.emit(conversation, status_event("running", 1000, "running"));
        server.emit(conversation, status_event("error", 1001, "error"));
        server.tell(conversation, run_over("over", 1002, "error"));
        server.emit(conversation, error_event("why", 1003, "Code", "exploded"));
    });
    ConversationOptions options = fast();
    options.reads_log = false;
    const auto conversation = attached(server, std::move(options));
    BOOST_TEST(conversation->run().value().reason == "Code: exploded");
    // One short page, for a `/goal` loop that began before: no more than where the turn began.
    std::string asked;
    for (const std::string& line : server.seen())
        if (line.starts_with("GET") && line.find("/events/") != std::string::npos)
            asked += line.substr(line.find("/events/"));
    BOOST_TEST(asked == "/events/search?limit=25&sort_order=TIMESTAMP_DESC");
}

BOOST_AUTO_TEST_CASE(attaching_is_given_up_at_its_deadline) {
    FakeAgentServer server;
    server.add(id);
    const HeldRequests held;
    server.on("GET " + id, held.handler());
    ConversationOptions options = fast();
    options.until = std::chrono::steady_clock::now() + 300ms;
    BOOST_TEST((RemoteConversation::attach(server.client(), id, options).error().kind == Kind::timed_out));
    server.on("GET /server_info", held.handler());
    options.until = std::chrono::steady_clock::now() + 300ms;
    BOOST_TEST((RemoteConversation::attach(server.client(), id, options).error().kind == Kind::timed_out));
}

BOOST_AUTO_TEST_CASE(newer_fields_and_kinds_and_what_is_no_event_are_harmless) {
    FakeAgentServer server("1.99.0");
    server.add(id);
    const auto conversation = attached(server);
    server.emit(id,
                R"({"id":"new","timestamp":"2027-01-01T00:00:00","kind":"EventOfTheFuture","parts":[{}]})");
    server.tell(id, "no JSON");
    server.tell(id, "[]");
    server.tell(id, R"({"kind":"WithoutId"})");
    server.emit(id, state_event("field", 5000, "a_field_of_the_future", "[1]"));
    eventually("the last one", [&] { return conversation->events().contains("field"); });
    BOOST_TEST(conversation->events().contains("new"));
    BOOST_TEST(conversation->events().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_callback_that_throws_stops_neither_the_others_nor_the_events) {
    FakeAgentServer server;
    server.add(id, numbered(2));
    SeenEvents seen;
    ConversationOptions options = fast();
    options.callbacks.emplace_back([](const RemoteEvent&) { throw std::runtime_error("wrong"); });
    options.callbacks.emplace_back([&](const RemoteEvent& event) { seen(event); });
    const auto conversation = attached(server, std::move(options));
    server.emit(id, message_event("next", 100, "agent", "x"));
    eventually("all three", [&] { return seen.seen().size() == 3; });
}

BOOST_AUTO_TEST_CASE(a_callback_may_ask_the_conversation) {
    FakeAgentServer server;
    server.add(id, numbered(1));
    std::promise<std::pair<bool, std::size_t>> answer;
    std::promise<RemoteConversation*> made;
    ConversationOptions options = fast();
    options.callbacks.emplace_back([&, asked = made.get_future().share()](const RemoteEvent& event) {
        if (event.id != "ask") return;
        RemoteConversation* const conversation = asked.get();
        const bool reconciled = conversation->reconcile(10s).has_value();
        answer.set_value({reconciled, conversation->events().size()});
    });
    const auto conversation = attached(server, std::move(options));
    made.set_value(conversation.get());
    server.emit(id, message_event("ask", 100, "agent", "x"));
    const auto [reconciled, size] = answer.get_future().get();
    BOOST_TEST(reconciled);
    BOOST_TEST(size == 2U);
}

BOOST_AUTO_TEST_CASE(creating_attaches_to_what_was_created) {
    FakeAgentServer server;
    const auto conversation = RemoteConversation::create(server.client(), R"({"agent":{}})", fast());
    BOOST_REQUIRE(conversation.has_value());
    BOOST_TEST(server.sockets(conversation.value()->id()) == 1U);
    BOOST_TEST(conversation.value()->state().value().execution_status() == "idle");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_cannot_be_attached_to) {
    FakeAgentServer server;
    BOOST_TEST((RemoteConversation::attach(server.client(), id, fast()).error().kind == Kind::not_found));
    BOOST_TEST(
        (RemoteConversation::attach(server.client("wrong"), id, fast()).error().kind == Kind::unauthorised));
}

BOOST_AUTO_TEST_CASE(secrets_are_asked_for_when_they_are_sent) {
    FakeAgentServer server;
    server.add(id);
    const auto conversation = attached(server);
    int asked = 0;
    const std::vector<std::pair<std::string, SecretSource>> secrets{
        {"TOKEN", [&] { return Secret("value " + std::to_string(++asked)); }}};
    BOOST_TEST(conversation->update_secrets(secrets).has_value());
    BOOST_TEST(conversation->update_secrets(secrets).has_value());
    BOOST_TEST(Json::parse(server.bodies("POST /secrets").at(1)) ==
               Json::parse(R"({"secrets":{"TOKEN":{"kind":"StaticSecret","value":"value 2"}}})"));
    const auto failed =
        conversation->update_secrets({{"BROKEN", []() -> Secret { throw std::runtime_error("hunter2"); }}});
    BOOST_TEST((failed.error().kind == Kind::invalid));
    BOOST_TEST(failed.error().text == "the secret BROKEN cannot be had");
}

BOOST_AUTO_TEST_CASE(an_old_servers_final_response_is_read_from_the_events) {
    FakeAgentServer server("1.7.3");
    server.add(id,
               {message_event("1", 1, "agent", "my last words"), message_event("2", 2, "user", "thanks")});
    BOOST_TEST(attached(server)->final_response().value() == "my last words");
}

BOOST_AUTO_TEST_CASE(the_state_has_every_field_of_the_servers) {
    FakeAgentServer server;
    server.add(id);
    const auto conversation = attached(server);
    const ConversationState state = conversation->state().value();
    BOOST_TEST(state.title() == "a title");
    BOOST_TEST(state.persistence_dir() == "p");
    BOOST_TEST(state.confirmation_policy() == R"({"kind":"NeverConfirm"})");
    server.emit(id, state_event("1", 1, "confirmation_policy", R"({"kind":"AlwaysConfirm"})"));
    eventually("the new policy", [&] {
        return conversation->state().value().confirmation_policy() == R"({"kind":"AlwaysConfirm"})";
    });
}

BOOST_AUTO_TEST_CASE(session_hooks_run_once_at_both_ends) {
    FakeAgentServer server;
    server.add(id);
    const process::TempDir folder;
    ConversationOptions options = fast();
    options.hook_folder = folder.path();
    options.hooks.session_start = {{"echo start >> log"}};
    options.hooks.session_end = {{"echo end >> log"}};
    options.hooks.not_run = {"Stop"};
    {
        const auto conversation = attached(server, std::move(options));
        BOOST_TEST(std::filesystem::file_size(folder.path() / "log") == 6U);
        conversation->close();
    }
    BOOST_TEST(std::filesystem::file_size(folder.path() / "log") == 10U);
}

BOOST_AUTO_TEST_CASE(a_slow_callback_gets_all_of_the_log_and_what_waits_for_it_is_bounded) {
    FakeAgentServer server;
    server.add(id, numbered(1));
    std::promise<void> release;
    const auto released = release.get_future().share();
    std::atomic<std::size_t> wire_bytes = 0;
    SeenEvents seen;
    auto options = fast();
    options.callbacks.emplace_back([&](const RemoteEvent& event) {
        if (event.id == "e1") released.wait();
        if (event.kind == "StreamingDeltaEvent") {
            wire_bytes += event.json.size();
            return;
        }
        seen(event);
    });
    const auto conversation = attached(server, std::move(options));
    std::promise<void> is_released = std::move(release);  // ends before it, whatever happens
    server.emit(id, message_event("e1", 1, "agent", "x"));
    constexpr std::size_t mebibyte = std::size_t{1} << 20U;
    for (int i = 0; i < 24; ++i)
        server.tell(id, R"({"kind":"StreamingDeltaEvent","id":"d)" + std::to_string(i) + R"(","content":")" +
                            std::string(mebibyte, 'x') + "\"}");
    for (int times = 0; times < 3; ++times) server.tell(id, message_event("e2", 2, "agent", "x"));
    server.append(id, message_event("e2", 2, "agent", "x"));
    server.emit(id, status_event("end", 3, "finished"));
    eventually("all frames are here",
               [&] { return conversation->state()->execution_status() == "finished"; });
    is_released.set_value();
    eventually("all of the log is told", [&] { return seen.seen().size() == 4U; });
    BOOST_TEST((seen.seen() == std::vector<std::string>{"e0", "e1", "e2", "end"}));
    BOOST_TEST(wire_bytes > 15 * mebibyte);
    BOOST_TEST(wire_bytes < 17 * mebibyte);
}
