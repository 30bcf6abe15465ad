#define BOOST_TEST_MODULE fold
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(a_user_message_opens_a_turn) {
    FoldRun fold_run;
    fold_run.read({status("i", 0s, "idle"), user_says("u1", 1s)});
    BOOST_TEST(fold_run.turn_state() == "open u1");
    BOOST_TEST(fold_run.turns() == "-");
}

BOOST_AUTO_TEST_CASE(a_user_message_while_a_turn_is_open_joins_it) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), user_says("u2", 3s),
                   agent_finishes("a1", 4s, "Both done."), status("f1", 5s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Both done.\"");
}

BOOST_AUTO_TEST_CASE(running_after_a_counted_end_opens_a_turn_of_its_own) {
    FoldRun fold_run = counted_once();
    fold_run.read(
        {status("r2", 5s, "running"), agent_says("a2", 6s, "Again."), status("f2", 7s, "finished")});
    BOOST_TEST(fold_run.settles().turns() ==
               "u1 finished by f1 \"Done.\"; r2 awaiting_user_input by f2 \"Again.\"");
}

BOOST_AUTO_TEST_CASE(running_that_is_older_than_what_was_read_opens_nothing) {
    FoldRun fold_run = counted_once();
    fold_run.read({status("r2", 3500ms, "running")});
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(a_stale_running_after_a_counted_end_does_not_hide_the_next_running) {
    FoldRun fold_run = counted_once();
    fold_run.read({status("r2", 3500ms, "running"), status("r3", 10s, "running")});
    BOOST_TEST(fold_run.turn_state() == "open r3");
    fold_run.read({agent_finishes("a3", 11s, "Again."), status("f3", 12s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"; r3 finished by f3 \"Again.\"");
}

BOOST_AUTO_TEST_CASE(a_stale_running_before_the_end_counts_does_not_hide_the_next_running) {
    FoldRun fold_run = finished_once();
    fold_run.read({status("r2", 3500ms, "running")}).settles();
    fold_run.read({status("r3", 10s, "running")});
    BOOST_TEST(fold_run.turn_state() == "open r3");
}

BOOST_AUTO_TEST_CASE(a_running_older_than_an_agents_event_after_the_end_does_not_hide_the_next_running) {
    FoldRun fold_run = counted_once();
    fold_run.read({agent_acts("a2", 9s), status("r2", 8s, "running"), status("r3", 10s, "running")});
    BOOST_TEST(fold_run.turn_state() == "open r3");
}

BOOST_AUTO_TEST_CASE(a_stale_running_says_nothing_of_a_pause_that_is_newer) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("p1", 4s, "paused"), status("r1", 2s, "running")});
    BOOST_TEST(fold_run.conversation().status == "paused");
}

BOOST_AUTO_TEST_CASE(running_behind_a_newer_agents_event_ends_a_pause) {
    FoldRun fold_run;
    fold_run.read(
        {user_says("u1", 1s), status("p1", 4s, "paused"), agent_acts("a1", 6s), status("r1", 5s, "running")});
    BOOST_TEST(fold_run.conversation().status == "running");
}

BOOST_AUTO_TEST_CASE(deleting_as_the_first_thing_ever_seen_is_reported) {
    FoldRun fold_run;
    fold_run.read({status("x1", 1s, "deleting")});
    BOOST_TEST(fold_run.turns() == "start stopped by x1");
    fold_run.read({status("x2", 2s, "deleting")});
    BOOST_TEST(fold_run.turns() == "start stopped by x1");
    FoldRun other;
    other.read({status("i1", 1s, "idle"), status("x1", 2s, "deleting")});
    BOOST_TEST(other.turns() == "-");
}

BOOST_AUTO_TEST_CASE(agent_events_after_a_counted_end_open_nothing) {
    FoldRun fold_run = counted_once();
    fold_run.read({agent_acts("a2", 6s), agent_says("a3", 7s, "By the way.")});
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(a_turn_whose_opening_was_not_seen_is_open_from_its_first_agent_event_or_running) {
    for (const Event& first : {agent_acts("a1", 1s), agent_says("a1", 1s, ""), status("r1", 1s, "running")}) {
        FoldRun fold_run;
        fold_run.read({first});
        BOOST_TEST(fold_run.turn_state().starts_with("open start"));
        fold_run.read({agent_finishes("a2", 2s, "Done."), status("f1", 3s, "finished")});
        BOOST_TEST(fold_run.settles().turns() == "start finished by f1 \"Done.\"");
    }
}

BOOST_AUTO_TEST_CASE(an_end_that_is_the_first_thing_seen_ends_the_turn_start) {
    FoldRun finished;
    finished.read({status("f1", 1s, "finished")});
    BOOST_TEST(finished.settles().turns() == "start finished by f1");
    FoldRun failed;
    failed.read({status("e1", 1s, "error"), error_detail("d1", 2s, "Timeout", "too slow")});
    BOOST_TEST(failed.turns() == "start error by e1 [Timeout: too slow]");
    FoldRun stuck;
    stuck.read({status("s1", 1s, "stuck")});
    BOOST_TEST(stuck.turns() == "start stuck by s1");
}

BOOST_AUTO_TEST_CASE(pauses_and_questions_for_confirmation_end_nothing) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), status("p1", 3s, "paused"),
                   status("w1", 4s, "waiting_for_confirmation"), status("i1", 5s, "idle")});
    BOOST_TEST(fold_run.settles().turn_state() == "open u1");
    BOOST_TEST(fold_run.turns() == "-");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(counting)

BOOST_AUTO_TEST_CASE(a_finished_counts_once_it_has_stood_for_settle_ms) {
    FoldRun fold_run = finished_once();
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(fold_run.after(1999999us).ticks().turns() == "-");
    BOOST_TEST(fold_run.after(1us).ticks().turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.after(1h).ticks().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(settle_ms_is_a_rule_not_a_constant) {
    FoldRun fold_run{FoldRules{500ms, true}};
    fold_run.read({status("f1", 1s, "finished")});
    BOOST_TEST(fold_run.after(499ms).ticks().turns() == "-");
    BOOST_TEST(fold_run.after(1ms).ticks().turns() == "start finished by f1");
}

BOOST_AUTO_TEST_CASE(a_user_message_counts_the_candidate_and_opens_a_turn) {
    FoldRun fold_run = finished_once();
    fold_run.read({user_says("u2", 5s)});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "open u2");
}

BOOST_AUTO_TEST_CASE(idle_between_finished_and_the_user_message_changes_nothing) {
    FoldRun fold_run = finished_once();
    fold_run.read({status("i1", 5s, "idle"), user_says("u2", 6s)});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "open u2");
}

BOOST_AUTO_TEST_CASE(running_newer_than_the_candidate_revokes_it) {
    FoldRun fold_run = finished_once();
    fold_run.read({status("r2", 4001ms, "running")});
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Done.\"");
    BOOST_TEST(fold_run.settles().turns() == "-");
    fold_run.read({agent_says("a2", 6s, "Really done?"), status("f2", 7s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 awaiting_user_input by f2 \"Really done?\"");
}

BOOST_AUTO_TEST_CASE(an_agent_action_or_message_newer_than_the_candidate_revokes_it) {
    for (const Event& event :
         {agent_acts("a2", 5s), agent_says("a2", 5s, "More."), agent_finishes("a2", 5s, "More.")}) {
        FoldRun fold_run = finished_once();
        fold_run.read({event});
        BOOST_TEST(fold_run.turn_state().starts_with("open u1"));
        BOOST_TEST(fold_run.settles().turns() == "-");
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_newer_than_the_candidate_does_not_revoke_it) {
    for (const Micros at : {Micros{3500ms}, Micros{4s}})
        for (const Event& event : {agent_acts("a2", at), status("r2", at, "running")}) {
            FoldRun fold_run = finished_once();
            fold_run.read({event});
            BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
        }
}

BOOST_AUTO_TEST_CASE(after_a_user_message_the_candidate_cannot_be_revoked_any_more) {
    FoldRun fold_run = finished_once();
    fold_run.read({user_says("u2", 5s), status("r2", 6s, "running")});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "open u2");
}

BOOST_AUTO_TEST_CASE(the_same_status_ends_a_turn_again_once_it_was_revoked) {
    FoldRun fold_run = finished_once();
    fold_run.read({agent_acts("a2", 5s), status("f2", 6s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f2 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(the_same_status_ends_the_next_turn_too) {
    FoldRun fold_run;
    fold_run.read(
        {user_says("u1", 1s), status("s1", 2s, "stuck"), user_says("u2", 3s), status("s2", 4s, "stuck")});
    BOOST_TEST(fold_run.turns() == "u1 stuck by s1; u2 stuck by s2");
}

BOOST_AUTO_TEST_CASE(deleting_counts_a_candidate) {
    FoldRun fold_run = finished_once();
    fold_run.read({status("x1", 5s, "deleting")});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(deleting_stops_an_open_turn) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_says("a1", 3s, "On it."),
                   status("x1", 4s, "deleting")});
    BOOST_TEST(fold_run.turns() == "u1 stopped by x1");
}

BOOST_AUTO_TEST_CASE(error_and_stuck_replace_a_candidate) {
    FoldRun failed = finished_once();
    failed.read({status("e1", 5s, "error")});
    BOOST_TEST(failed.settles().turns() == "u1 error by e1");
    FoldRun stuck = finished_once();
    stuck.read({status("s1", 5s, "stuck")});
    BOOST_TEST(stuck.turns() == "u1 stuck by s1");
}

BOOST_AUTO_TEST_CASE(finished_with_a_message_as_newest_word_is_awaiting_user_input) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), agent_finishes("a1", 2s, "Done."),
                   agent_says("a2", 3s, "Which file?"), status("f1", 4s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 awaiting_user_input by f1 \"Which file?\"");
}

BOOST_AUTO_TEST_CASE(finished_without_any_word_is_finished_without_words) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), agent_acts("a1", 2s), status("f1", 4s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1");
}

BOOST_AUTO_TEST_CASE(repeats_of_a_status_and_activity_do_not_move_the_candidate) {
    FoldRun fold_run = finished_once();
    fold_run.after(1s).read({status("f2", 5s, "finished"), v1_event("o1", 6s, Activity{}),
                             status("i1", 7s, "idle"), status("f3", 8s, "finished")});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(fold_run.after(1s).ticks().turns() == "u1 finished by f1 \"Done.\"");
    fold_run.read({status("f4", 9s, "finished"), status("i2", 10s, "idle"), status("f5", 11s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(the_order_of_1_7_with_webhooks_still_gives_the_finish_actions_words) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_says("a1", 3s, "Let me look."),
                   status("f1", 5s, "finished"), v1_event("full", 5s, Activity{}),
                   agent_finishes("a2", 4s, "Done.")});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_word_older_than_the_turns_opening_belongs_to_no_turn) {
    FoldRun fold_run = counted_once();
    fold_run.read(
        {user_says("u2", 10s), agent_says("a2", 9s, "Of the turn before."), status("f2", 11s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"; u2 finished by f2");
}

BOOST_AUTO_TEST_CASE(the_newest_word_by_its_own_timestamp_is_the_turns_word) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), agent_finishes("a2", 4s, "Second."), agent_says("a1", 3s, "First."),
                   status("f1", 5s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Second.\"");
}

BOOST_AUTO_TEST_CASE(words_are_kept_to_their_bound_and_say_what_was_cut) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s),
                   agent_says("a1", 2s, std::string(max_message_bytes - 1, 'x') + "\u00fc and much more"),
                   status("f1", 3s, "finished")});
    BOOST_REQUIRE(fold_run.settles().ended().size() == 1U);
    const std::string mark = "\n\n… (74 more characters)";
    BOOST_TEST(*fold_run.ended().front().final_message == std::string(max_message_bytes - 60, 'x') + mark);
}

BOOST_AUTO_TEST_CASE(other_verdicts_have_no_words) {
    for (const char* verdict : {"error", "stuck", "deleting"}) {
        FoldRun fold_run;
        fold_run.read({user_says("u1", 1s), agent_says("a1", 2s, "Hm."), status("x1", 3s, verdict)});
        BOOST_REQUIRE(fold_run.settles().ended().size() == 1U);
        BOOST_TEST(!fold_run.ended().front().final_message.has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(error_details)

BOOST_AUTO_TEST_CASE(a_long_detail_is_cut_as_words_are) {
    FoldRun failed;
    const std::string much(max_message_bytes + 1, 'x');
    failed.read({status("e1", 1s, "error"), error_detail("d1", 2s, "Timeout", much)});
    BOOST_TEST(failed.turns() == "start error by e1 [Timeout: " + much.substr(1) + "]");
}

BOOST_AUTO_TEST_CASE(the_detail_after_an_error_is_awaited_and_reported) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("e1", 2s, "error")});
    BOOST_TEST(fold_run.turn_state() == "awaiting_detail u1 due=+2s");
    BOOST_TEST(fold_run.turns() == "-");
    fold_run.read({error_detail("d1", 3s, "LLMRateLimitError", "slow down")});
    BOOST_TEST(fold_run.turns() == "u1 error by e1 [LLMRateLimitError: slow down]");
}

BOOST_AUTO_TEST_CASE(an_error_without_detail_is_reported_when_settle_ms_have_passed) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("e1", 2s, "error")});
    BOOST_TEST(fold_run.after(1999ms).ticks().turns() == "-");
    BOOST_TEST(fold_run.after(1ms).ticks().turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(a_detail_read_before_its_status_is_reported_at_once) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), error_detail("d1", 3s, "Code", "why"), status("e1", 2s, "error")});
    BOOST_TEST(fold_run.turns() == "u1 error by e1 [Code: why]");
}

BOOST_AUTO_TEST_CASE(a_detail_older_than_the_turn_is_not_its_reason) {
    FoldRun fold_run;
    fold_run.read(
        {user_says("u1", 5s), error_detail("d1", 3s, "Code", "of before"), status("e1", 6s, "error")});
    BOOST_TEST(fold_run.settles().turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(what_opens_the_next_turn_ends_the_wait_for_the_detail) {
    FoldRun asked;
    asked.read({user_says("u1", 1s), status("e1", 2s, "error"), user_says("u2", 3s)});
    BOOST_TEST(asked.turns() == "u1 error by e1");
    BOOST_TEST(asked.turn_state() == "open u2");
    FoldRun resumed;
    resumed.read({user_says("u1", 1s), status("e1", 2s, "error"), status("r2", 3s, "running")});
    BOOST_TEST(resumed.turns() == "u1 error by e1");
    BOOST_TEST(resumed.turn_state() == "open r2");
}

BOOST_AUTO_TEST_CASE(a_detail_of_a_counted_error_is_not_the_next_turns) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("e1", 2s, "error"), user_says("u2", 4s),
                   error_detail("d1", 3s, "Code", "of u1"), status("e2", 5s, "error"),
                   error_detail("d2", 6s, "Other", "of u2")});
    BOOST_TEST(fold_run.turns() == "u1 error by e1; u2 error by e2 [Other: of u2]");
}

BOOST_AUTO_TEST_CASE(an_error_cannot_be_taken_back_while_its_detail_is_awaited) {
    for (const Event& event : {agent_acts("a1", 3s), status("f1", 3s, "finished"), status("s1", 3s, "stuck"),
                               status("e2", 3s, "error"), status("i1", 3s, "idle")}) {
        FoldRun fold_run;
        fold_run.read({user_says("u1", 1s), status("e1", 2s, "error"), event});
        BOOST_TEST(fold_run.settles().turns() == "u1 error by e1");
    }
}

BOOST_AUTO_TEST_SUITE_END()
