#define BOOST_TEST_MODULE fold
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/story.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

/// A turn as a V1 server tells it, its `finished` read but not yet counted.
Story finished_once() {
    Story story;
    story.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_finishes("a1", 3s, "Done."),
                status("f1", 4s, "finished")});
    return story;
}

Story counted_once() {
    Story story = finished_once();
    return story.settles();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(a_user_message_opens_a_turn) {
    Story story;
    story.read({status("i", 0s, "idle"), user_says("u1", 1s)});
    BOOST_TEST(story.standing() == "open u1");
    BOOST_TEST(story.turns() == "-");
}

BOOST_AUTO_TEST_CASE(a_user_message_while_a_turn_is_open_joins_it) {
    Story story;
    story.read({user_says("u1", 1s), status("r1", 2s, "running"), user_says("u2", 3s),
                agent_finishes("a1", 4s, "Both done."), status("f1", 5s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Both done.\"");
}

BOOST_AUTO_TEST_CASE(running_after_a_counted_end_opens_a_turn_of_its_own) {
    Story story = counted_once();
    story.read({status("r2", 5s, "running"), agent_says("a2", 6s, "Again."), status("f2", 7s, "finished")});
    BOOST_TEST(story.settles().turns() ==
               "u1 finished by f1 \"Done.\"; r2 awaiting_user_input by f2 \"Again.\"");
}

BOOST_AUTO_TEST_CASE(running_that_is_older_than_what_was_read_opens_nothing) {
    Story story = counted_once();
    story.read({status("r2", 3500ms, "running")});
    BOOST_TEST(story.standing() == "ended");
}

BOOST_AUTO_TEST_CASE(agent_events_after_a_counted_end_open_nothing) {
    Story story = counted_once();
    story.read({agent_acts("a2", 6s), agent_says("a3", 7s, "By the way.")});
    BOOST_TEST(story.standing() == "ended");
}

BOOST_AUTO_TEST_CASE(a_turn_whose_opening_was_not_seen_is_open_from_its_first_agent_event_or_running) {
    for (const Event& first : {agent_acts("a1", 1s), agent_says("a1", 1s, ""), status("r1", 1s, "running")}) {
        Story story;
        story.read({first});
        BOOST_TEST(story.standing().starts_with("open start"));
        story.read({agent_finishes("a2", 2s, "Done."), status("f1", 3s, "finished")});
        BOOST_TEST(story.settles().turns() == "start finished by f1 \"Done.\"");
    }
}

BOOST_AUTO_TEST_CASE(an_end_that_is_the_first_thing_seen_ends_the_turn_start) {
    Story finished;
    finished.read({status("f1", 1s, "finished")});
    BOOST_TEST(finished.settles().turns() == "start finished by f1");
    Story failed;
    failed.read({status("e1", 1s, "error"), error_detail("d1", 2s, "Timeout", "too slow")});
    BOOST_TEST(failed.turns() == "start error by e1 [Timeout: too slow]");
    Story stuck;
    stuck.read({status("s1", 1s, "stuck")});
    BOOST_TEST(stuck.turns() == "start stuck by s1");
}

BOOST_AUTO_TEST_CASE(pauses_and_questions_for_confirmation_end_nothing) {
    Story story;
    story.read({user_says("u1", 1s), status("r1", 2s, "running"), status("p1", 3s, "paused"),
                status("w1", 4s, "waiting_for_confirmation"), status("i1", 5s, "idle")});
    BOOST_TEST(story.settles().standing() == "open u1");
    BOOST_TEST(story.turns() == "-");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(counting)

BOOST_AUTO_TEST_CASE(a_finished_counts_once_it_has_stood_for_settle_ms) {
    Story story = finished_once();
    BOOST_TEST(story.standing() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(story.after(1999999us).ticks().turns() == "-");
    BOOST_TEST(story.after(1us).ticks().turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.after(1h).ticks().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(settle_ms_is_a_rule_not_a_constant) {
    Story story{FoldRules{500ms, true}};
    story.read({status("f1", 1s, "finished")});
    BOOST_TEST(story.after(499ms).ticks().turns() == "-");
    BOOST_TEST(story.after(1ms).ticks().turns() == "start finished by f1");
}

BOOST_AUTO_TEST_CASE(a_user_message_counts_the_candidate_and_opens_a_turn) {
    Story story = finished_once();
    story.read({user_says("u2", 5s)});
    BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.standing() == "open u2");
}

BOOST_AUTO_TEST_CASE(idle_between_finished_and_the_user_message_changes_nothing) {
    Story story = finished_once();
    story.read({status("i1", 5s, "idle"), user_says("u2", 6s)});
    BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.standing() == "open u2");
}

BOOST_AUTO_TEST_CASE(running_newer_than_the_candidate_revokes_it) {
    Story story = finished_once();
    story.read({status("r2", 4001ms, "running")});
    BOOST_TEST(story.standing() == "open u1 finish \"Done.\"");
    BOOST_TEST(story.settles().turns() == "-");
    story.read({agent_says("a2", 6s, "Really done?"), status("f2", 7s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 awaiting_user_input by f2 \"Really done?\"");
}

BOOST_AUTO_TEST_CASE(an_agent_action_or_message_newer_than_the_candidate_revokes_it) {
    for (const Event& event :
         {agent_acts("a2", 5s), agent_says("a2", 5s, "More."), agent_finishes("a2", 5s, "More.")}) {
        Story story = finished_once();
        story.read({event});
        BOOST_TEST(story.standing().starts_with("open u1"));
        BOOST_TEST(story.settles().turns() == "-");
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_newer_than_the_candidate_does_not_revoke_it) {
    for (const Micros at : {Micros{3500ms}, Micros{4s}})
        for (const Event& event : {agent_acts("a2", at), status("r2", at, "running")}) {
            Story story = finished_once();
            story.read({event});
            BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Done.\"");
        }
}

BOOST_AUTO_TEST_CASE(after_a_user_message_the_candidate_cannot_be_revoked_any_more) {
    Story story = finished_once();
    story.read({user_says("u2", 5s), status("r2", 6s, "running")});
    BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.standing() == "open u2");
}

BOOST_AUTO_TEST_CASE(the_same_status_ends_a_turn_again_once_it_was_revoked) {
    Story story = finished_once();
    story.read({agent_acts("a2", 5s), status("f2", 6s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f2 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(the_same_status_ends_the_next_turn_too) {
    Story story;
    story.read(
        {user_says("u1", 1s), status("s1", 2s, "stuck"), user_says("u2", 3s), status("s2", 4s, "stuck")});
    BOOST_TEST(story.turns() == "u1 stuck by s1; u2 stuck by s2");
}

BOOST_AUTO_TEST_CASE(deleting_counts_a_candidate) {
    Story story = finished_once();
    story.read({status("x1", 5s, "deleting")});
    BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.standing() == "ended");
}

BOOST_AUTO_TEST_CASE(deleting_stops_an_open_turn) {
    Story story;
    story.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_says("a1", 3s, "On it."),
                status("x1", 4s, "deleting")});
    BOOST_TEST(story.turns() == "u1 stopped by x1");
}

BOOST_AUTO_TEST_CASE(error_and_stuck_replace_a_candidate) {
    Story failed = finished_once();
    failed.read({status("e1", 5s, "error")});
    BOOST_TEST(failed.settles().turns() == "u1 error by e1");
    Story stuck = finished_once();
    stuck.read({status("s1", 5s, "stuck")});
    BOOST_TEST(stuck.turns() == "u1 stuck by s1");
}

BOOST_AUTO_TEST_CASE(finished_with_a_message_as_newest_word_is_awaiting_user_input) {
    Story story;
    story.read({user_says("u1", 1s), agent_finishes("a1", 2s, "Done."), agent_says("a2", 3s, "Which file?"),
                status("f1", 4s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 awaiting_user_input by f1 \"Which file?\"");
}

BOOST_AUTO_TEST_CASE(finished_without_any_word_is_finished_without_words) {
    Story story;
    story.read({user_says("u1", 1s), agent_acts("a1", 2s), status("f1", 4s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f1");
}

BOOST_AUTO_TEST_CASE(repeats_of_a_status_and_activity_do_not_move_the_candidate) {
    Story story = finished_once();
    story.after(1s).read({status("f2", 5s, "finished"), v1_event("o1", 6s, Activity{}),
                          status("i1", 7s, "idle"), status("f3", 8s, "finished")});
    BOOST_TEST(story.standing() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(story.after(1s).ticks().turns() == "u1 finished by f1 \"Done.\"");
    story.read({status("f4", 9s, "finished"), status("i2", 10s, "idle"), status("f5", 11s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(the_order_of_1_7_with_webhooks_still_gives_the_finish_actions_words) {
    Story story;
    story.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_says("a1", 3s, "Let me look."),
                status("f1", 5s, "finished"), v1_event("full", 5s, Activity{}),
                agent_finishes("a2", 4s, "Done.")});
    BOOST_TEST(story.standing() == "candidate u1 finish \"Done.\" due=+2s");
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_word_older_than_the_turns_opening_belongs_to_no_turn) {
    Story story = counted_once();
    story.read(
        {user_says("u2", 10s), agent_says("a2", 9s, "Of the turn before."), status("f2", 11s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Done.\"; u2 finished by f2");
}

BOOST_AUTO_TEST_CASE(the_newest_word_by_its_own_timestamp_is_the_turns_word) {
    Story story;
    story.read({user_says("u1", 1s), agent_finishes("a2", 4s, "Second."), agent_says("a1", 3s, "First."),
                status("f1", 5s, "finished")});
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Second.\"");
}

BOOST_AUTO_TEST_CASE(words_are_kept_to_their_bound_and_cut_between_code_points) {
    Story story;
    story.read({user_says("u1", 1s),
                agent_says("a1", 2s, std::string(max_word_bytes - 1, 'x') + "\u00fc and much more"),
                status("f1", 3s, "finished")});
    BOOST_REQUIRE(story.settles().ended().size() == 1U);
    BOOST_TEST(*story.ended().front().words == std::string(max_word_bytes - 1, 'x'));
}

BOOST_AUTO_TEST_CASE(other_verdicts_have_no_words) {
    for (const char* verdict : {"error", "stuck", "deleting"}) {
        Story story;
        story.read({user_says("u1", 1s), agent_says("a1", 2s, "Hm."), status("x1", 3s, verdict)});
        BOOST_REQUIRE(story.settles().ended().size() == 1U);
        BOOST_TEST(!story.ended().front().words.has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(error_details)

BOOST_AUTO_TEST_CASE(a_long_detail_is_cut_as_words_are) {
    Story failed;
    const std::string much(max_word_bytes + 1, 'x');
    failed.read({status("e1", 1s, "error"), error_detail("d1", 2s, "Timeout", much)});
    BOOST_TEST(failed.turns() == "start error by e1 [Timeout: " + much.substr(1) + "]");
}

BOOST_AUTO_TEST_CASE(the_detail_after_an_error_is_awaited_and_reported) {
    Story story;
    story.read({user_says("u1", 1s), status("e1", 2s, "error")});
    BOOST_TEST(story.standing() == "awaiting_detail u1 due=+2s");
    BOOST_TEST(story.turns() == "-");
    story.read({error_detail("d1", 3s, "LLMRateLimitError", "slow down")});
    BOOST_TEST(story.turns() == "u1 error by e1 [LLMRateLimitError: slow down]");
}

BOOST_AUTO_TEST_CASE(an_error_without_detail_is_reported_when_settle_ms_have_passed) {
    Story story;
    story.read({user_says("u1", 1s), status("e1", 2s, "error")});
    BOOST_TEST(story.after(1999ms).ticks().turns() == "-");
    BOOST_TEST(story.after(1ms).ticks().turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(a_detail_read_before_its_status_is_reported_at_once) {
    Story story;
    story.read({user_says("u1", 1s), error_detail("d1", 3s, "Code", "why"), status("e1", 2s, "error")});
    BOOST_TEST(story.turns() == "u1 error by e1 [Code: why]");
}

BOOST_AUTO_TEST_CASE(a_detail_older_than_the_turn_is_not_its_reason) {
    Story story;
    story.read({user_says("u1", 5s), error_detail("d1", 3s, "Code", "of before"), status("e1", 6s, "error")});
    BOOST_TEST(story.settles().turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(what_opens_the_next_turn_ends_the_wait_for_the_detail) {
    Story asked;
    asked.read({user_says("u1", 1s), status("e1", 2s, "error"), user_says("u2", 3s)});
    BOOST_TEST(asked.turns() == "u1 error by e1");
    BOOST_TEST(asked.standing() == "open u2");
    Story resumed;
    resumed.read({user_says("u1", 1s), status("e1", 2s, "error"), status("r2", 3s, "running")});
    BOOST_TEST(resumed.turns() == "u1 error by e1");
    BOOST_TEST(resumed.standing() == "open r2");
}

BOOST_AUTO_TEST_CASE(a_detail_of_a_counted_error_is_not_the_next_turns) {
    Story story;
    story.read({user_says("u1", 1s), status("e1", 2s, "error"), user_says("u2", 4s),
                error_detail("d1", 3s, "Code", "of u1"), status("e2", 5s, "error"),
                error_detail("d2", 6s, "Other", "of u2")});
    BOOST_TEST(story.turns() == "u1 error by e1; u2 error by e2 [Other: of u2]");
}

BOOST_AUTO_TEST_CASE(an_error_cannot_be_taken_back_while_its_detail_is_awaited) {
    for (const Event& event : {agent_acts("a1", 3s), status("f1", 3s, "finished"), status("s1", 3s, "stuck"),
                               status("e2", 3s, "error"), status("i1", 3s, "idle")}) {
        Story story;
        story.read({user_says("u1", 1s), status("e1", 2s, "error"), event});
        BOOST_TEST(story.settles().turns() == "u1 error by e1");
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(timers)

BOOST_AUTO_TEST_CASE(an_event_recorded_at_or_past_the_due_time_is_applied_after_the_timer) {
    for (const Micros late : {Micros{2s}, Micros{1h}}) {
        Story story = finished_once();
        story.after(late).read({status("r2", 5s, "running")});
        BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
        BOOST_TEST(story.standing() == "open r2");
    }
}

BOOST_AUTO_TEST_CASE(an_event_recorded_before_the_due_time_finds_the_candidate_standing) {
    Story story = finished_once();
    story.after(1999999us).read({status("r2", 5s, "running")});
    BOOST_TEST(story.turns() == "-");
    BOOST_TEST(story.standing() == "open u1 finish \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_repeat_recorded_past_the_due_time_fires_the_timer_too) {
    Story story = finished_once();
    story.after(2s).read({status("f1", 4s, "finished")});
    BOOST_TEST((story.applied() == Applied::repeat));
    BOOST_TEST(story.turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_detail_recorded_past_the_due_time_comes_too_late) {
    Story story;
    story.read({user_says("u1", 1s), status("e1", 2s, "error")});
    story.after(2s).read({error_detail("d1", 3s, "Code", "why")});
    BOOST_TEST(story.turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(timers_run_by_record_time_whatever_the_events_own_clock_says) {
    Story story;
    story.after(1h).read({status("f1", 0s, "finished")});
    BOOST_TEST(story.standing() == "candidate start due=+3602s");
    BOOST_TEST((due_at(story.conversation()) == story_start + 3602s));
    BOOST_TEST(story.settles().turns() == "start finished by f1");
    BOOST_TEST(!due_at(story.conversation()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(repeats_and_late_events)

BOOST_AUTO_TEST_CASE(a_repeated_id_steers_nothing_wherever_it_comes_from) {
    Story story = counted_once();
    for (const Event& event : {user_says("u1", 1s), status("r1", 20s, "running"),
                               agent_finishes("a1", 21s, "No."), status("f1", 22s, "error")}) {
        story.read({event});
        BOOST_TEST((story.applied() == Applied::repeat));
    }
    BOOST_TEST(story.settles().turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(story.standing() == "ended");
}

BOOST_AUTO_TEST_CASE(the_last_64_steering_ids_are_remembered) {
    Story story;
    story.read({user_says("u1", 1s), status("f1", 1s, "stuck")});
    for (int i = 0; i < 62; ++i) story.read({user_says("m" + std::to_string(i), 2s)});
    BOOST_TEST(story.conversation().recent.size() == 64U);
    story.read({user_says("u1", 1s)});
    BOOST_TEST((story.applied() == Applied::repeat));
    story.read({user_says("m62", 2s), user_says("u1", 1s)});
    BOOST_TEST((story.applied() == Applied::applied));
    BOOST_TEST(story.conversation().recent.size() == 64U);
}

BOOST_AUTO_TEST_CASE(observations_and_actions_do_not_use_up_the_memory_of_ids) {
    Story story;
    story.read({user_says("u1", 1s)});
    for (int i = 0; i < 200; ++i) story.read({v1_event("o" + std::to_string(i), 2s, Activity{})});
    BOOST_TEST(story.conversation().recent.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_steering_event_more_than_30_s_older_than_the_newest_status_is_late) {
    Story story;
    story.read({user_says("u1", 60s), status("r1", 100s, "running")});
    story.read({status("e1", 69999999us, "error")});
    BOOST_TEST((story.applied() == Applied::late));
    BOOST_TEST(story.settles().standing() == "open u1");
    story.read({status("e2", 70s, "error")});
    BOOST_TEST((story.applied() == Applied::applied));
    BOOST_TEST(story.settles().turns() == "u1 error by e2");
}

BOOST_AUTO_TEST_CASE(a_late_user_message_neither_opens_nor_counts) {
    Story story;
    story.read({user_says("u1", 60s), status("f1", 100s, "finished"), user_says("u2", 1s)});
    BOOST_TEST((story.applied() == Applied::late));
    BOOST_TEST(story.standing() == "candidate u1 due=+2s");
}

BOOST_AUTO_TEST_CASE(a_late_event_is_kept_for_the_digest) {
    Story story;
    Event event = agent_says("a1", 1s, "Late.");
    event.work.push_back(FileChanged{"a.txt"});
    story.read({user_says("u1", 60s), status("r1", 100s, "running"), event, status("s1", 101s, "stuck")});
    BOOST_REQUIRE(story.ended().size() == 1U);
    BOOST_TEST(story.ended().front().digest.files == std::vector<std::string>{"a.txt"});
}

BOOST_AUTO_TEST_CASE(a_late_event_read_twice_is_a_repeat_the_second_time) {
    Story story;
    story.read({status("r1", 100s, "running"), user_says("u1", 1s), user_says("u1", 1s)});
    BOOST_TEST((story.applied() == Applied::repeat));
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_is_late_until_it_has_caught_up) {
    Story story;
    story.read({user_says("u1", 1s), status("f1", 4000s, "finished")});
    story.settles();
    for (int i = 0; i < 3; ++i) {
        story.read({user_says("u2." + std::to_string(i), std::chrono::seconds{400 + i})});
        BOOST_TEST((story.applied() == Applied::late));
    }
    story.read({user_says("u3", 3971s)});
    BOOST_TEST(story.standing() == "open u3");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(the_digest)

BOOST_AUTO_TEST_CASE(work_goes_to_the_turn_in_which_it_was_read) {
    Event first = agent_acts("a1", 2s);
    first.work.push_back(FileChanged{"one.txt"});
    Event second = agent_acts("a2", 5s);
    second.work.push_back(FileChanged{"two.txt"});
    Story story;
    story.read({user_says("u1", 1s), first, status("s1", 3s, "stuck"), user_says("u2", 4s), second,
                status("s2", 6s, "stuck")});
    BOOST_REQUIRE(story.ended().size() == 2U);
    BOOST_TEST(story.ended()[0].digest.files == std::vector<std::string>{"one.txt"});
    BOOST_TEST(story.ended()[1].digest.files == std::vector<std::string>{"two.txt"});
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_when_nobody_watches) {
    Event event = agent_acts("a1", 2s);
    event.work.push_back(FileChanged{"one.txt"});
    Story story{FoldRules{2s, false}};
    story.read({user_says("u1", 1s), event, status("s1", 3s, "stuck")});
    BOOST_TEST((story.ended().at(0).digest == Digest{}));
}

BOOST_AUTO_TEST_CASE(work_that_ends_after_finished_still_counts) {
    Event started = agent_acts("a1", 3s);
    started.work.push_back(CommandStarted{"a1", "make"});
    Event done = v1_event("o1", 5s, Activity{});
    done.work.push_back(CommandEnded{"a1", 2});
    Story story;
    story.read({user_says("u1", 1s), started, status("f1", 4s, "finished"), done});
    story.settles();
    BOOST_REQUIRE(story.ended().at(0).digest.commands.size() == 1U);
    BOOST_TEST(story.ended()[0].digest.commands[0].exit_code.value_or(-1) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
