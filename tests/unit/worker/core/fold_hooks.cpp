// Stop hooks and the end of runs (contract §4).
#define BOOST_TEST_MODULE fold_hooks
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

Event run_over(Micros at, std::string status) {
    return v1_event("s" + std::to_string(at.count()), at, RunOver{std::move(status)});
}

Event hook_says(std::string id, Micros at, bool is_denied) {
    Event event = v1_event(std::move(id), at, StopHookVerdict{is_denied});
    event.has_stop_hook = true;
    return event;
}

/// A turn whose `finished` stands, of a conversation that has a stop hook.
FoldRun finished_with_hook() {
    Event hooks = v1_event("h", 0s, Activity{});
    hooks.has_stop_hook = true;
    FoldRun fold_run;
    fold_run.read({hooks, user_says("u1", 1s), status("r1", 2s, "running"), agent_finishes("a1", 3s, "Done."),
                   status("f1", 4s, "finished")});
    return fold_run;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_end_of_a_run_makes_its_finished_count_at_once) {
    FoldRun fold_run = finished_once();
    fold_run.read({run_over(5s, "finished")});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_decides_nothing_without_its_finished) {
    for (const Event& over : {run_over(5s, "running"), run_over(5s, "idle"), run_over(3s, "finished")})
        BOOST_TEST(finished_once().read({over}).turn_state() == "candidate u1 finish \"Done.\" due=+2s");
    FoldRun open;
    open.read({user_says("u1", 1s), run_over(2s, "finished")});
    BOOST_TEST(open.turn_state() == "open u1");
    BOOST_TEST(FoldRun().read({run_over(2s, "finished")}).turn_state() == "none");
    BOOST_TEST(counted_once().read({run_over(9s, "finished")}).ended().size() == 1U);
}

BOOST_AUTO_TEST_CASE(with_a_stop_hook_a_finished_does_not_count_by_settling) {
    FoldRun fold_run = finished_with_hook();
    BOOST_TEST(fold_run.settles().turns() == "-");
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+600s");
    BOOST_TEST(fold_run.after(598s).ticks().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_stop_hook_is_what_the_rules_say) {
    FoldRules rules;
    rules.hook_wait = 7s;
    FoldRun fold_run(rules);
    Event hooks = v1_event("h", 0s, Activity{});
    hooks.has_stop_hook = true;
    fold_run.read({hooks, status("f1", 4s, "finished")});
    BOOST_TEST(fold_run.turn_state() == "candidate start due=+7s");
}

BOOST_AUTO_TEST_CASE(with_a_stop_hook_the_end_of_the_run_counts_at_once) {
    BOOST_TEST(finished_with_hook().read({run_over(9s, "finished")}).turns() ==
               "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_stop_hook_that_allows_lets_the_finished_settle) {
    FoldRun fold_run = finished_with_hook();
    fold_run.after(8s).read({hook_says("h1", 12s, false)});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+10s");
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_stop_hook_that_denies_revokes_the_finished) {
    FoldRun fold_run = finished_with_hook();
    fold_run.after(4s).read({hook_says("h1", 8s, true)});
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Done.\"");
    fold_run.read({status("r2", 9s, "running"), agent_finishes("a2", 10s, "Now it is."),
                   status("f2", 11s, "finished"), hook_says("h2", 15s, false)});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f2 \"Now it is.\"");
}

BOOST_AUTO_TEST_CASE(of_two_stop_hooks_the_one_that_denies_decides) {
    FoldRun fold_run = finished_with_hook();
    fold_run.read({hook_says("h1", 8s, false), hook_says("h2", 8s, true)});
    BOOST_TEST(fold_run.settles().turn_state() == "open u1 finish \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_verdict_makes_the_stop_hook_known_and_the_next_finished_waits) {
    FoldRun fold_run = finished_once();
    fold_run.read({hook_says("h1", 5s, true), status("r2", 6s, "running"), status("f2", 7s, "finished")});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+600s");
}

BOOST_AUTO_TEST_CASE(a_stop_hook_that_becomes_known_behind_a_finished_is_waited_for) {
    FoldRun fold_run = finished_once();
    Event hooks = v1_event("h", 5s, Activity{});
    hooks.has_stop_hook = true;
    fold_run.read({hooks});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+600s");
}

BOOST_AUTO_TEST_CASE(a_verdict_on_an_earlier_finished_says_nothing_of_this_one) {
    FoldRun fold_run = finished_with_hook();
    fold_run.read({hook_says("h0", 3500ms, true)});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+600s");
}

BOOST_AUTO_TEST_CASE(a_user_message_and_new_work_decide_as_without_a_stop_hook) {
    BOOST_TEST(finished_with_hook().read({user_says("u2", 9s)}).turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(finished_with_hook().read({agent_acts("a2", 9s)}).turn_state() == "open u1 finish \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_stop_hook_survives_its_row) {
    const auto read = from_row(to_row(finished_with_hook().conversation()));
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->has_stop_hook);
    BOOST_TEST(std::get<Candidate>(read->turn_state).awaits_hook);
}
