// Runs of the remote conversation, against a stand-in: how each end is told, and what is waited for.
#define BOOST_TEST_MODULE agent_run
#include <future>

#include <boost/test/unit_test.hpp>

#include "base/process/ports.h"
#include "conversation_fixture.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = AgentError::Kind;

namespace {

constexpr const char* with_stop_hook =
    R"({"hook_config":{"stop":[{"matcher":"*","hooks":[{"type":"command","command":"check"}]}]}})";

/// A run that goes on until the test ends it.
struct RunUnderWay {
    RunUnderWay() {
        server.add(id);
        server.on_run([this](const std::string&) { server.emit(id, status_event("1", 1, "running")); });
        conversation = attached(server);
        end = std::async(std::launch::async, [this] { return conversation->run(); });
        eventually("the run", [this] { return conversation->events().contains("1"); });
    }

    FakeAgentServer server;
    std::unique_ptr<RemoteConversation> conversation;
    std::future<AgentResult<RunEnd>> end;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_that_finishes_is_told_with_all_its_events) {
    FakeAgentServer server;
    server.add(id);
    play_run(server, "finished");
    const auto conversation = attached(server);
    const auto end = conversation->run();
    BOOST_TEST(end.value().status == "finished");
    BOOST_TEST(!end.value().failed());
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)), boost::test_tools::per_element());
    BOOST_TEST(conversation->final_response().value() == "a word");
}

BOOST_AUTO_TEST_CASE(an_error_is_told_with_its_reason_although_that_comes_after_it) {
    FakeAgentServer server;
    server.add(id);
    play_run(server, "error", "the backend exploded");
    const auto conversation = attached(server);
    const auto end = conversation->run();
    BOOST_TEST(end.value().status == "error");
    BOOST_TEST(end.value().reason == "Code: the backend exploded");
    play_run(server, "error", "another time");
    BOOST_TEST(conversation->run().value().reason == "Code: another time");
}

BOOST_AUTO_TEST_CASE(an_error_without_a_reason_does_not_borrow_that_of_an_earlier_one) {
    FakeAgentServer server;
    server.add(id);
    play_run(server, "error", "the first");
    const auto conversation = attached(server);
    BOOST_TEST(conversation->run().value().reason == "Code: the first");
    play_run(server, "error");
    BOOST_TEST(conversation->run().value().reason == "the server gives no reason");
}

BOOST_AUTO_TEST_CASE(stuck_is_told_at_once) {
    FakeAgentServer server;
    server.add(id);
    play_run(server, "stuck");
    const auto end = attached(server)->run();
    BOOST_TEST(end.value().status == "stuck");
    BOOST_TEST(end.value().failed());
}

BOOST_AUTO_TEST_CASE(a_run_of_what_is_finished_already_ends_as_finished) {
    FakeAgentServer server;
    server.add(id, {status_event("old", 1, "finished")}, "finished");
    server.on_run([&](const std::string&) {
        server.tell(id, state_event("snapshot", 2, "full_state", R"({"execution_status":"finished"})"));
    });
    BOOST_TEST(attached(server)->run().value().status == "finished");
}

BOOST_AUTO_TEST_CASE(finished_that_is_taken_back_by_a_message_is_no_end) {
    FakeAgentServer server;
    server.add(id);
    server.on_run([&](const std::string&) {
        server.emit(id, status_event("1", 1, "running"));
        server.emit(id, status_event("2", 2, "finished"));
        server.emit(id, status_event("3", 2.003, "idle"));
    });
    const auto conversation = attached(server);
    auto end = std::async(std::launch::async, [&] { return conversation->run(); });
    eventually("the last status", [&] { return conversation->events().contains("3"); });
    BOOST_TEST((end.wait_for(500ms) == std::future_status::timeout));
    server.emit(id, message_event("4", 3, "agent", "a second word"));
    server.emit(id, status_event("5", 4, "finished"));
    BOOST_TEST(end.get().value().status == "finished");
    BOOST_TEST(conversation->events().at(-1)->id == "5");
}

BOOST_AUTO_TEST_CASE(the_snapshot_of_a_run_that_is_over_ends_it_although_rest_fails) {
    FakeAgentServer server;
    server.add(id);
    server.on_run([&](const std::string&) {
        server.on("GET " + id, [](const auto&) { return fake_platform::json_reply(500, "{}"); });
        server.emit(id, status_event("1", 1, "running"));
        server.emit(id, status_event("2", 2, "finished"));
        server.tell(id, run_over("over", 3, "finished"));
    });
    BOOST_TEST(attached(server)->run(60s).value().status == "finished");
}

BOOST_AUTO_TEST_CASE(a_snapshot_of_the_run_before_does_not_end_this_one) {
    FakeAgentServer server;
    server.add(id, {status_event("0", 5, "idle")}, "idle");
    server.on_run([&](const std::string&) {
        server.tell(id, run_over("late", 2, "finished"));
        server.emit(id, status_event("1", 6, "running"));
    });
    const auto conversation = attached(server);
    auto end = std::async(std::launch::async, [&] { return conversation->run(); });
    eventually("the run", [&] { return conversation->events().contains("1"); });
    BOOST_TEST((end.wait_for(500ms) == std::future_status::timeout));
    server.emit(id, status_event("2", 7, "paused"));
    BOOST_TEST(end.get().value().status == "paused");
}

BOOST_FIXTURE_TEST_CASE(finished_that_a_stop_hook_may_take_back_is_no_end, RunUnderWay) {
    server.describe(id, with_stop_hook);
    server.emit(id, status_event("2", 2, "finished"));
    eventually("finished", [&] { return conversation->events().contains("2"); });
    BOOST_TEST((end.wait_for(1s) == std::future_status::timeout));
    server.emit(id, stop_hook_event("3", 6, true));
    server.emit(id, status_event("4", 7, "running"));
    server.emit(id, message_event("5", 8, "agent", "done again"));
    server.emit(id, status_event("6", 9, "finished"));
    eventually("finished again", [&] { return conversation->events().contains("6"); });
    BOOST_TEST((end.wait_for(1s) == std::future_status::timeout));
    server.emit(id, stop_hook_event("7", 13, false));
    BOOST_TEST(end.get().value().status == "finished");
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_run_that_is_over_needs_no_word_of_its_stop_hook, RunUnderWay) {
    server.describe(id, with_stop_hook);
    server.emit(id, status_event("2", 2, "finished"));
    server.tell(id, run_over("over", 3, "finished"));
    BOOST_TEST(end.get().value().status == "finished");
}

BOOST_AUTO_TEST_CASE(without_a_socket_the_log_tells_what_the_stop_hook_said) {
    FakeAgentServer server;
    server.add(id);
    server.describe(id, with_stop_hook);
    server.refuse_sockets(502);
    server.on_run([&](const std::string&) {
        server.append(id, status_event("1", 1, "running"));
        server.append(id, status_event("2", 2, "finished"));
    });
    const auto conversation = attached(server);
    auto end = std::async(std::launch::async, [&] { return conversation->run(); });
    eventually("finished", [&] { return conversation->events().contains("2"); });
    BOOST_TEST((end.wait_for(1s) == std::future_status::timeout));
    server.append(id, stop_hook_event("3", 6, false));
    BOOST_TEST(end.get().value().status == "finished");
}

BOOST_AUTO_TEST_CASE(a_run_that_is_under_way_is_waited_for) {
    FakeAgentServer server;
    server.add(id, {status_event("1", 1, "running")}, "running");
    server.on("POST /run", [](const auto&) {
        return fake_platform::json_reply(409, R"({"detail":"Conversation already running."})");
    });
    const auto conversation = attached(server);
    BOOST_TEST(!conversation->start().value());
    auto end = std::async(std::launch::async, [&] { return conversation->run(); });
    eventually("the second refusal", [&] { return server.bodies("POST /run").size() == 2; });
    server.emit(id, status_event("2", 2, "paused"));
    BOOST_TEST(end.get().value().status == "paused");
}

BOOST_AUTO_TEST_CASE(a_server_that_still_tidies_up_is_asked_to_run_again) {
    FakeAgentServer server;
    server.add(id, {}, "idle");
    std::atomic<int> refusals = 0;
    server.on("POST /run", [&](const auto&) {
        if (++refusals <= 2)
            return fake_platform::json_reply(409, R"({"detail":"Conversation already running."})");
        server.emit(id, status_event("1", 1, "running"));
        server.emit(id, status_event("2", 2, "finished"));
        return fake_platform::json_reply(200, R"({"success":true})");
    });
    BOOST_TEST(attached(server)->run().value().status == "finished");
    BOOST_TEST(refusals == 3);
}

BOOST_AUTO_TEST_CASE(a_server_without_room_is_asked_to_run_again) {
    FakeAgentServer server;
    server.add(id, {}, "idle");
    std::atomic<int> refusals = 0;
    server.on("POST /run", [&](const auto&) {
        if (++refusals == 1)
            return fake_platform::json_reply(429, R"({"detail":"Conversation run limit reached."})");
        server.emit(id, status_event("1", 1, "running"));
        server.emit(id, status_event("2", 2, "finished"));
        return fake_platform::json_reply(200, R"({"success":true})");
    });
    const auto conversation = attached(server);
    BOOST_TEST(conversation->run().value().status == "finished");
    server.on("POST /run", [&](const auto&) { return fake_platform::json_reply(429, "{}"); });
    const auto end = conversation->run(100ms);
    BOOST_TEST((end.error().kind == Kind::overloaded));
    BOOST_TEST(!end.error().maybe_done);
}

BOOST_AUTO_TEST_CASE(a_run_that_does_not_end_is_given_up_at_the_deadline) {
    FakeAgentServer server;
    server.add(id);
    server.on_run([&](const std::string&) { server.emit(id, status_event("1", 1, "running")); });
    const auto end = attached(server)->run(300ms);
    BOOST_TEST((end.error().kind == Kind::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_conversation_that_is_deleted_during_a_run_is_not_found, RunUnderWay) {
    BOOST_TEST(conversation->calls().remove().has_value());
    BOOST_TEST((end.get().error().kind == Kind::not_found));
}

BOOST_FIXTURE_TEST_CASE(closing_ends_a_wait_and_everything_after_it, RunUnderWay) {
    conversation->close();
    conversation->close();
    BOOST_TEST((end.get().error().kind == Kind::closed));
    BOOST_TEST((conversation->run().error().kind == Kind::closed));
    BOOST_TEST((conversation->reconcile(10s).error().kind == Kind::closed));
    BOOST_TEST(conversation->events().contains("1"));
}

BOOST_AUTO_TEST_CASE(a_server_that_dies_and_comes_back_during_a_run_is_waited_for) {
    const auto port = process::free_port();
    auto server = std::make_unique<FakeAgentServer>("1.58.0", "key", port);
    server->add(id);
    server->on_run([&](const std::string&) { server->emit(id, status_event("1", 1, "running")); });
    const auto conversation = attached(*server);
    auto end = std::async(std::launch::async, [&] { return conversation->run(); });
    eventually("the run", [&] { return conversation->events().contains("1"); });
    server.reset();
    eventually("no socket", [&] { return !conversation->is_live(); });
    BOOST_TEST((conversation->calls().send_message("x").error().kind == Kind::unreachable));
    server = std::make_unique<FakeAgentServer>("1.58.0", "key", port);
    server->add(id, {status_event("1", 1, "running"), status_event("2", 9, "error")}, "error");
    BOOST_TEST(end.get().value().status == "error");
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server->log(id)), boost::test_tools::per_element());
    // Before the server, which `on_run` knows by reference.
    conversation->close();
}
