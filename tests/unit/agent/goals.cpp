// `/goal` loops on a stand-in: what ends their rounds ends no run.
#define BOOST_TEST_MODULE agent_goals
#include "agent/goals.h"

#include <future>

#include <boost/test/unit_test.hpp>

#include "conversation_fixture.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;

namespace {

/// A loop that works, and one who waits for its end; `attach` first.
struct LoopUnderWay {
    LoopUnderWay() {
        server.add(id,
                   {goal_event("g1", 1, true), message_event("m1", 2, "user", "Make it work"),
                    status_event("r1", 3, "running")},
                   "running");
        server.on("POST /run", [](const auto&) {
            return fake_platform::json_reply(409, R"({"detail":"Conversation already running."})");
        });
    }

    void attach(ConversationOptions options = fast()) {
        conversation = attached(server, std::move(options));
        end = std::async(std::launch::async, [this] { return conversation->run(); });
        eventually("the refusal", [this] { return !server.bodies("POST /run").empty(); });
    }
    void end_round(double seconds) {
        const std::string round = std::to_string(seconds);
        server.emit(id, status_event("f" + round, seconds, "finished"));
        server.tell(id, run_over("o" + round, seconds + 0.1, "finished"));
    }
    bool still_waits() const { return end.wait_for(500ms) == std::future_status::timeout; }
    /// The second round, and the end.
    void end_loop() {
        server.emit(id, goal_event("g2", 11, true));
        server.emit(id, message_event("m2", 12, "user", "Go on"));
        server.emit(id, status_event("r2", 13, "running"));
        end_round(14);
        BOOST_TEST(still_waits());
        server.emit(id, goal_event("g3", 20, false));
        BOOST_TEST(end.get().value().status == "finished");
    }

    FakeAgentServer server;
    std::unique_ptr<RemoteConversation> conversation;
    std::future<AgentResult<RunEnd>> end;
};

bool goes_on(const FakeAgentServer& server) {
    return goal_goes_on(ConversationCalls(server.client(), id), std::chrono::steady_clock::time_point::max())
        .value();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_round_of_a_goal_is_no_end_and_the_loops_end_is_one, LoopUnderWay) {
    attach();
    end_round(10);
    BOOST_TEST(still_waits());
    end_loop();
    BOOST_TEST(ids_of(conversation->events()) == ids_in(server.log(id)), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(so_it_is_for_one_who_does_not_read_the_log, LoopUnderWay) {
    ConversationOptions options = fast();
    options.reads_log = false;
    attach(std::move(options));
    end_round(10);
    BOOST_TEST(still_waits());
    end_loop();
}

BOOST_FIXTURE_TEST_CASE(a_goal_that_begins_while_one_waits_is_heard_of, LoopUnderWay) {
    server.add("other");
    server.emit(id, goal_event("g1 ended", 4, false));
    attach();
    server.emit(id, goal_event("again", 5, true));
    end_round(10);
    BOOST_TEST(still_waits());
    end_loop();
}

BOOST_FIXTURE_TEST_CASE(without_a_socket_the_log_tells_of_the_goal, LoopUnderWay) {
    server.refuse_sockets(502);
    attach();
    server.append(id, status_event("f1", 10, "finished"));
    server.set_status(id, "finished");
    BOOST_TEST(still_waits());
    server.append(id, goal_event("g2", 20, false));
    BOOST_TEST(end.get().value().status == "finished");
}

BOOST_AUTO_TEST_CASE(the_newest_update_counts_and_one_of_an_earlier_turn_does_not) {
    FakeAgentServer server;
    server.add(id);
    BOOST_TEST(!goes_on(server));
    server.append(id, goal_event("g1", 1, true));
    BOOST_TEST(goes_on(server));
    server.append(id, message_event("m1", 2, "user", "Make it work"));
    for (int i = 0; i < 250; ++i)  // more than two pages
        server.append(id, message_event("w" + std::to_string(i), 3 + i, "agent", "a word"));
    BOOST_TEST(goes_on(server));
    server.append(id, goal_event("g2", 300, false));
    BOOST_TEST(!goes_on(server));
    // The log of an earlier turn is not read: a loop would have spoken since.
    const std::size_t before = server.seen().size();
    for (int i = 0; i < 250; ++i)
        server.append(id, message_event("x" + std::to_string(i), 301 + i, "agent", "a word"));
    server.append(id, message_event("m2", 600, "user", "Something else"));
    BOOST_TEST(!goes_on(server));
    BOOST_TEST(server.seen().size() - before == 2U);  // its version, one page
}

BOOST_AUTO_TEST_CASE(a_server_without_goals_is_not_asked_for_them) {
    FakeAgentServer server("1.28.1");
    server.add(id, {goal_event("g1", 1, true)});
    BOOST_TEST(!goes_on(server));
    BOOST_TEST(server.seen().size() == 1U);  // its version
}
