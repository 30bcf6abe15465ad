// The remote conversation, against a stand-in.
#define BOOST_TEST_MODULE agent_conversation
#include "agent/conversation.h"

#include <atomic>
#include <future>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/process/ports.h"
#include "base/process/temp_dir.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Kind = AgentError::Kind;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

/// The events that callbacks saw. Thread-safe.
class Witness {
  public:
    void operator()(const RemoteEvent& event) {
        const std::lock_guard lock(mutex_);
        if (!event.is_full_state()) seen_.push_back(event.id);
    }
    std::vector<std::string> seen() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
};

ConversationOptions fast(Witness* witness = nullptr) {
    ConversationOptions options;
    options.socket.backoff_base = 1ms;
    options.socket.backoff_cap = 50ms;
    if (witness != nullptr)
        options.callbacks.emplace_back([witness](const RemoteEvent& event) { (*witness)(event); });
    return options;
}

std::unique_ptr<RemoteConversation> attached(const FakeAgentServer& server,
                                             ConversationOptions options = fast()) {
    auto conversation = RemoteConversation::attach(server.client(), id, std::move(options));
    if (!conversation) throw std::runtime_error(conversation.error().text);
    return std::move(*conversation);
}

std::vector<std::string> ids_of(const EventList& events) {
    std::vector<std::string> ids;
    for (const EventRef& event : events) ids.push_back(event->id);
    return ids;
}

std::vector<std::string> numbered(int count) {
    std::vector<std::string> events;
    for (int i = 0; i < count; ++i) events.push_back(message_event("e" + std::to_string(i), i, "agent", "x"));
    return events;
}

std::vector<std::string> ids_in(const std::vector<std::string>& events) {
    std::vector<std::string> ids;
    for (const std::string& event : events) ids.push_back(parse_event(event)->id);
    return ids;
}

/// What a run of the server does: goes through these statuses, and says why when it ends in error.
void play_run(FakeAgentServer& server, const std::string& end, const std::string& reason = "") {
    server.on_run([&server, end, reason](const std::string& conversation) {
        const auto n = static_cast<double>(server.log(conversation).size());
        const std::string name = std::to_string(server.log(conversation).size());
        server.emit(conversation, status_event("running" + name, n, "running"));
        server.emit(conversation, message_event("word" + name, n + 0.1, "agent", "a word"));
        server.emit(conversation, status_event("end" + name, n + 0.2, end));
        if (!reason.empty()) server.emit(conversation, error_event("why" + name, n + 0.3, "Code", reason));
    });
}

/// A run that goes on until somebody ends it.
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

BOOST_AUTO_TEST_CASE(what_was_there_and_what_comes_is_in_the_list_and_told_once) {
    FakeAgentServer server;
    server.add(id, numbered(230));
    Witness witness;
    const auto conversation = attached(server, fast(&witness));
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)), boost::test_tools::per_element());
    server.emit(id, message_event("live", 1000, "agent", "x"));
    eventually("the live one", [&] { return witness.seen().size() == 231; });
    BOOST_TEST(witness.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_told_between_subscription_and_log_is_neither_missed_nor_doubled) {
    FakeAgentServer server;
    server.add(id, numbered(10));
    server.on_socket([&](const std::string&, fake_platform::SocketPeer& peer) {
        for (const std::string& event : numbered(3)) peer.send(event);  // a resend that overlaps
        return true;
    });
    Witness witness;
    const auto conversation = attached(server, fast(&witness));
    eventually("all of it", [&] { return witness.seen().size() >= 10; });
    server.emit(id, message_event("after", 1000, "agent", "x"));
    eventually("and one more", [&] { return !witness.seen().empty() && witness.seen().back() == "after"; });
    BOOST_TEST(witness.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_happened_while_the_socket_was_down_is_there_after_it_came_back) {
    FakeAgentServer server;
    server.add(id, numbered(2));
    Witness witness;
    const auto conversation = attached(server, fast(&witness));
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
    eventually("all told", [&] { return witness.seen().size() == 7; });
    BOOST_TEST(witness.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_any_socket_rest_alone_tells_everything) {
    FakeAgentServer server;
    server.add(id, numbered(3));
    server.refuse_sockets(502);
    play_run(server, "finished");
    Witness witness;
    const auto conversation = attached(server, fast(&witness));
    const auto end = conversation->run();
    BOOST_TEST(end.value().status == "finished");
    BOOST_TEST(!conversation->is_live());
    BOOST_TEST(conversation->state().value().execution_status() == "finished");
    BOOST_TEST(witness.seen() == ids_in(server.log(id)), boost::test_tools::per_element());
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
    Witness witness;
    ConversationOptions options = fast();
    options.callbacks.emplace_back([](const RemoteEvent&) { throw std::runtime_error("wrong"); });
    options.callbacks.emplace_back([&](const RemoteEvent& event) { witness(event); });
    const auto conversation = attached(server, std::move(options));
    server.emit(id, message_event("next", 100, "agent", "x"));
    eventually("all three", [&] { return witness.seen().size() == 3; });
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
