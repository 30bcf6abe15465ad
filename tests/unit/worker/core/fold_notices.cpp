// What holds an open turn up is told once, until the agent has run again (contract §4 "Notices").
#define BOOST_TEST_MODULE fold_notices
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr auto confirm = "waiting_for_confirmation";

Event agent_steps(std::string id, Micros at, std::string step) {
    return v1_event(std::move(id), at, AgentAction{std::move(step)});
}

/// A turn whose agent wants to do something that has to be confirmed.
FoldRun waiting() {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_steps("a1", 3s, "rm -r cache"),
                   status("w1", 4s, confirm)});
    return fold_run;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_question_for_confirmation_is_told_with_the_action_that_waits) {
    BOOST_TEST(waiting().notices() == "notice:w1 waiting_for_confirmation of u1: rm -r cache");
}

BOOST_AUTO_TEST_CASE(a_pause_is_told_while_a_turn_is_open_and_never_between_turns) {
    FoldRun fold_run = counted_once();
    fold_run.read({status("p1", 10s, "paused")});
    BOOST_TEST(fold_run.notices() == "-");
    fold_run.read({user_says("u2", 11s), status("r2", 12s, "running"), status("p2", 13s, "paused")});
    BOOST_TEST(fold_run.notices() == "notice:p2 paused of u2");
}

BOOST_AUTO_TEST_CASE(it_is_told_again_only_after_the_agent_ran_again) {
    FoldRun fold_run = waiting();
    fold_run.read({status("i1", 5s, "idle"), user_says("u2", 6s), status("w2", 7s, confirm)});
    BOOST_TEST(fold_run.notices() == "notice:w1 waiting_for_confirmation of u1: rm -r cache");
    fold_run.read({status("r2", 8s, "running"), agent_steps("a2", 9s, "ls"), status("w3", 10s, confirm)});
    BOOST_TEST(fold_run.notices() ==
               "notice:w1 waiting_for_confirmation of u1: rm -r cache; "
               "notice:w3 waiting_for_confirmation of u1: ls");
}

BOOST_AUTO_TEST_CASE(an_action_of_the_agents_shows_that_it_ran_where_its_running_was_lost) {
    FoldRun fold_run = waiting();
    fold_run.read({status("i1", 5s, "idle"), agent_steps("a2", 6s, "ls"), status("w2", 7s, confirm)});
    BOOST_TEST(fold_run.notices().ends_with("notice:w2 waiting_for_confirmation of u1: ls"));
}

BOOST_AUTO_TEST_CASE(a_pause_while_it_waits_is_told_beside_the_question) {
    FoldRun fold_run = waiting();
    fold_run.read({status("p1", 5s, "paused"), status("w2", 6s, confirm), status("p2", 7s, "paused")});
    BOOST_TEST(fold_run.notices() ==
               "notice:w1 waiting_for_confirmation of u1: rm -r cache; notice:p1 paused of u1");
}

BOOST_AUTO_TEST_CASE(a_repeated_event_tells_nothing_twice) {
    FoldRun fold_run = waiting();
    fold_run.read({status("r2", 5s, "running"), status("w1", 4s, confirm)});
    BOOST_TEST(fold_run.notices() == "notice:w1 waiting_for_confirmation of u1: rm -r cache");
}

BOOST_AUTO_TEST_CASE(an_action_that_was_carried_out_is_not_taken_for_the_one_that_waits) {
    FoldRun fold_run;
    Event done = v1_event("o1", 4s, Activity{});
    done.work.push_back(CommandEnded{"a1", 0, "ls"});
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_steps("a1", 3s, "ls"), done,
                   status("w1", 5s, confirm)});
    BOOST_TEST(fold_run.notices() == "notice:w1 waiting_for_confirmation of u1");
}

BOOST_AUTO_TEST_CASE(v0_tells_both_with_states_of_its_own) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_state(2, "running"), v0_event(3, AgentAction{"rm -r cache"}),
                   v0_state(4, "awaiting_user_confirmation"), v0_state(5, "user_confirmed"),
                   v0_state(6, "running"), v0_state(7, "paused")});
    BOOST_TEST(fold_run.notices() ==
               "notice:4 waiting_for_confirmation of 1: rm -r cache; notice:7 paused of 1");
}

BOOST_AUTO_TEST_CASE(a_notice_leaves_the_turns_outcome_as_it_is) {
    FoldRun fold_run = waiting();
    fold_run.read(
        {status("r2", 5s, "running"), agent_finishes("a2", 6s, "Done."), status("f1", 7s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
}
