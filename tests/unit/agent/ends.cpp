// When a run has ended, and when a server is asked again: the pure rules of the agent client.
#define BOOST_TEST_MODULE agent_ends
#include <boost/test/unit_test.hpp>

#include "agent/event_list.h"
#include "agent/log_gate.h"
#include "agent/run_watch.h"
#include "agent/socket.h"
#include "agent/stop_hooks.h"
#include "tests/agent/fake_agent_server.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = AgentError::Kind;

namespace {

EventRef event_of(const std::string& json) {
    return std::make_shared<RemoteEvent>(parse_event(json).value());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_ends_when_rest_confirms_what_the_socket_told) {
    RunWatch watch("idle");
    const RunWatch::Clock::time_point t{};
    watch.saw("running");
    BOOST_TEST(!watch.confirm("running", t));
    BOOST_TEST(watch.confirm("error", t));
    RunWatch other("idle");
    other.saw("running");
    BOOST_TEST(other.confirm("waiting_for_confirmation", t));
}

BOOST_AUTO_TEST_CASE(finished_has_to_stand_because_a_message_may_take_it_back) {
    RunWatch watch("running");
    const RunWatch::Clock::time_point t{};
    BOOST_TEST(!watch.confirm("finished", t));
    BOOST_TEST(!watch.confirm("idle", t + 3ms));
    BOOST_TEST(!watch.confirm("finished", t + 200ms));
    BOOST_TEST(!watch.confirm("finished", t + 400ms));
    BOOST_TEST(watch.confirm("finished", t + 500ms));
}

BOOST_AUTO_TEST_CASE(the_snapshot_of_a_run_that_is_over_ends_it) {
    RunWatch watch("idle");
    watch.saw("running", false, "08:01");
    watch.saw("finished", false, "08:02");
    BOOST_TEST(!watch.over());
    watch.saw("finished", true, "08:03");
    BOOST_TEST(watch.over().value() == "finished");
    watch.saw("running", false, "08:04");
    BOOST_TEST(!watch.over());
    watch.saw("error", true, "08:05");
    BOOST_TEST(watch.over().value() == "error");
    RunWatch any("");
    any.saw("running", true, "08:01");
    BOOST_TEST(!any.over());
    any.saw("stuck", true, "08:02");
    BOOST_TEST(any.over().value() == "stuck");
}

BOOST_AUTO_TEST_CASE(a_snapshot_that_may_be_of_the_run_before_ends_nothing) {
    RunWatch same("finished");
    same.saw("finished", true, "08:01");
    BOOST_TEST(!same.over());
    RunWatch later("idle", "08:05");
    later.saw("finished", true, "08:03");
    BOOST_TEST(!later.over());
    RunWatch overtaken("finished");
    overtaken.saw("running", false, "08:05");
    overtaken.saw("finished", true, "08:03");
    BOOST_TEST(!overtaken.over());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_that_was_over_before_the_next_was_started_ends_nothing) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch{std::string(RunWatch::an_end)};
    watch.saw("finished", false, "08:01");
    watch.saw("finished", true, "08:02");
    BOOST_TEST(!watch.over());
    BOOST_TEST(!watch.confirm("finished", t));
    BOOST_TEST(!watch.confirm("finished", t + 5s));
    BOOST_TEST((watch.ask_next(t, true) <= t + 1s));
    watch.saw("running", false, "08:03");
    watch.saw("finished", true, "08:04");
    BOOST_TEST(watch.over().value() == "finished");
}

BOOST_AUTO_TEST_CASE(finished_waits_until_all_stop_hooks_have_let_it_pass) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch("running");
    watch.expect_stop_hooks(2);
    BOOST_TEST(!watch.confirm("finished", t, 0));
    BOOST_TEST(!watch.confirm("finished", t + 60s, 1));
    BOOST_TEST((watch.ask_next(t, true) == t + 1s));
    BOOST_TEST(!watch.confirm("running", t + 61s, 0));
    BOOST_TEST(!watch.confirm("finished", t + 62s, 0));
    BOOST_TEST(watch.confirm("finished", t + 63s, 2));
    RunWatch silent("running");
    silent.expect_stop_hooks(1);
    BOOST_TEST(!silent.confirm("finished", t));
    BOOST_TEST(!silent.confirm("finished", t + 599s));
    BOOST_TEST(silent.confirm("finished", t + 600s));
    RunWatch failed("running");
    failed.expect_stop_hooks(1);
    BOOST_TEST(failed.confirm("error", t));
}

BOOST_AUTO_TEST_CASE(while_a_goal_goes_on_finished_and_stuck_end_only_a_round) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch("running");
    watch.goal(true);
    watch.saw("finished", false, "08:01");
    watch.saw("finished", true, "08:02");
    BOOST_TEST(!watch.over());
    BOOST_TEST(!watch.confirm("finished", t));
    BOOST_TEST(!watch.confirm("finished", t + 3600s));
    BOOST_TEST((watch.ask_next(t, true) == t + 5s));
    watch.saw("idle", false, "08:03");
    watch.saw("stuck", true, "08:04");
    BOOST_TEST(!watch.over());
    BOOST_TEST(!watch.confirm("stuck", t + 3601s));
    BOOST_TEST(!watch.failed_by_socket());
    watch.saw("running", false, "08:05");
    watch.saw("finished", true, "08:06");
    watch.goal(false);
    BOOST_TEST(watch.over().value() == "finished");
    // What stops a loop is an end by itself.
    for (const char* const status : {"error", "paused", "waiting_for_confirmation"}) {
        RunWatch stopped("running");
        stopped.goal(true);
        BOOST_TEST(stopped.confirm(status, t));
        stopped.saw(status, true, "08:01");
        BOOST_TEST(stopped.over().value() == status);
    }
}

BOOST_AUTO_TEST_CASE(a_goal_that_ends_after_its_last_round_leaves_an_end_to_confirm) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch("finished");  // between two rounds
    watch.goal(true);
    BOOST_TEST(!watch.confirm("finished", t));
    watch.goal(false);
    BOOST_TEST(watch.confirm("finished", t + 300ms));
}

BOOST_AUTO_TEST_CASE(rest_that_fails_is_asked_again_soon_and_then_later) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch("idle");
    watch.saw("running");
    BOOST_TEST((watch.ask_next(t, true) == t + 5s));
    for (const auto pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
        watch.failed();
        BOOST_TEST((watch.ask_next(t, true) == t + pause));
    }
    watch.confirm("running", t);
    BOOST_TEST((watch.ask_next(t, true) == t + 5s));
}

BOOST_AUTO_TEST_CASE(stop_hooks_are_counted_where_the_server_tells_of_them) {
    BOOST_TEST(stop_hooks_in("{}") == 0U);
    BOOST_TEST(stop_hooks_in(R"({"hook_config":null})") == 0U);
    BOOST_TEST(stop_hooks_in(R"({"hook_config":{"stop":[],"pre_tool_use":[{"hooks":[{}]}]}})") == 0U);
    BOOST_TEST(stop_hooks_in(
                   R"({"hook_config":{"stop":[{"matcher":"*","hooks":[{"command":"a"},)"
                   R"({"command":"b","async":true}]},{"hooks":[{"command":"c","async_":false}]}]}})") == 2U);
}

BOOST_AUTO_TEST_CASE(what_stop_hooks_said_counts_for_the_newest_finished) {
    EventList list;
    list.add(event_of(status_event("1", 1, "finished")));
    BOOST_TEST(!has_stop_hook(list));
    BOOST_TEST(stop_hooks_passed(list) == 0U);
    list.add(event_of(stop_hook_event("2", 2, false)));
    BOOST_TEST(has_stop_hook(list));
    BOOST_TEST(stop_hooks_passed(list) == 1U);
    list.add(event_of(stop_hook_event("3", 3, true)));
    BOOST_TEST(stop_hooks_passed(list) == 0U);
    list.add(event_of(status_event("4", 4, "running")));
    list.add(event_of(status_event("5", 5, "finished")));
    BOOST_TEST(stop_hooks_passed(list) == 0U);
    list.add(event_of(stop_hook_event("6", 6, false)));
    BOOST_TEST(stop_hooks_passed(list) == 1U);
    BOOST_TEST((event_of(R"({"id":"h","kind":"HookExecutionEvent","hook_event_type":"PreToolUse"})")->stop ==
                StopVerdict::none));
}

BOOST_AUTO_TEST_CASE(a_connection_may_be_quiet_as_long_as_the_server_may_stand_still) {
    BOOST_TEST((quiet_of(features_of("1.7.3")) == 660s));
    BOOST_TEST((quiet_of(features_of("")) == 660s));
    BOOST_TEST((quiet_of(features_of("1.22.1")) == 60s));
    BOOST_TEST((quiet_of(features_of("1.58.2")) == 60s));
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_read_is_asked_for_after_growing_pauses_one_at_a_time) {
    LogGate::Clock::time_point now{};
    LogGate gate(1s, [&] { return now; });
    int reads = 0;
    const auto fail = [&](const std::string& conversation, std::chrono::seconds work = 0s, int status = 500) {
        return gate.pass<AgentResult<void>>(conversation, [&]() -> AgentResult<void> {
            ++reads;
            now += work;
            return AgentFailure(AgentError{Kind::server_error, "answered 500", false, status});
        });
    };
    const auto pause = [&](const AgentResult<void>& result) { return result.error().retry_after; };
    for (const auto expected : {1s, 2s, 4s, 8s}) {
        BOOST_TEST((pause(fail("a")) == expected));
        BOOST_TEST((pause(fail("a")) == expected));  // without asking
        now += expected;
    }
    BOOST_TEST(reads == 4);
    // What costs the server much is asked for the less.
    static_cast<void>(fail("b", 8s));
    BOOST_TEST((pause(fail("b")) == 32s));
    BOOST_TEST(fail("b").error().text == "answered 500");
    // One such log at a time; the others are free.
    now += 600s;
    const auto both = gate.pass<AgentResult<void>>("a", [&]() -> AgentResult<void> {
        const auto other = fail("b");
        BOOST_TEST((other.error().kind == Kind::overloaded));
        BOOST_TEST((other.error().retry_after == 1s));
        return gate.pass<AgentResult<void>>("readable", [] { return AgentResult<void>(); });
    });
    BOOST_TEST(both.has_value());
    // It was read: all is forgotten.
    static_cast<void>(fail("a"));
    BOOST_TEST((pause(fail("a")) == 1s));
    // What a proxy says of a server that is away is no such failure.
    static_cast<void>(fail("c", 0s, 502));
    BOOST_TEST((pause(fail("c", 0s, 502)) == 0s));
}

BOOST_AUTO_TEST_CASE(a_server_is_not_to_be_forgotten_while_the_pauses_of_its_logs_could_grow) {
    LogGate::Clock::time_point now{};
    LogGate gate(1s, [&] { return now; });
    BOOST_TEST(!gate.spares_any());
    const auto fails = []() -> AgentResult<void> {
        return AgentFailure(AgentError{Kind::server_error, "answered 500", false, 500});
    };
    static_cast<void>(gate.pass<AgentResult<void>>("a", fails));
    now += 600s;
    BOOST_TEST(gate.spares_any());
    now += 1s;
    BOOST_TEST(!gate.spares_any());
    static_cast<void>(gate.pass<AgentResult<void>>("a", fails));
    BOOST_TEST(gate.spares_any());
    now += 2s;
    static_cast<void>(gate.pass<AgentResult<void>>("a", [] { return AgentResult<void>(); }));
    BOOST_TEST(!gate.spares_any());
}

BOOST_AUTO_TEST_CASE(an_end_that_was_there_before_has_to_stand_longer) {
    RunWatch watch("finished");
    const RunWatch::Clock::time_point t{};
    watch.saw("finished");
    BOOST_TEST(!watch.confirm("finished", t));
    BOOST_TEST(!watch.confirm("finished", t + 29s));
    BOOST_TEST(watch.confirm("finished", t + 30s));
    RunWatch told("stuck");
    told.saw("stuck", true);
    BOOST_TEST(told.confirm("stuck", t));
    RunWatch moved("error");
    moved.saw("running");
    BOOST_TEST(moved.confirm("error", t));
}

BOOST_AUTO_TEST_CASE(idle_ends_nothing_and_any_end_counts_for_who_only_waits) {
    const RunWatch::Clock::time_point t{};
    RunWatch watch("");
    BOOST_TEST(!watch.confirm("idle", t));
    BOOST_TEST(!watch.confirm("a status of the future", t));
    BOOST_TEST(watch.confirm("stuck", t));
}

BOOST_AUTO_TEST_CASE(without_rest_only_a_failure_told_by_the_socket_counts) {
    RunWatch watch("error");
    watch.saw("error");
    BOOST_TEST(!watch.failed_by_socket());
    watch.saw("running");
    BOOST_TEST(!watch.failed_by_socket());
    watch.saw("error");
    BOOST_TEST(watch.failed_by_socket().value() == "error");
}
