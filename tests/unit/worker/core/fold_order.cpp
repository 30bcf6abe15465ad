// The fold by the order and the time of its events: timers, repeats, late events, the digest.
#define BOOST_TEST_MODULE fold_order
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> files_of(const TurnEnd& turn) {
    std::vector<std::string> paths;
    for (const auto& file : turn.digest.files) paths.push_back(file.path);
    return paths;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timers)

BOOST_AUTO_TEST_CASE(an_event_recorded_at_or_past_the_due_time_is_applied_after_the_timer) {
    for (const Micros late : {Micros{2s}, Micros{1h}}) {
        FoldRun fold_run = finished_once();
        fold_run.after(late).read({status("r2", 5s, "running")});
        BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
        BOOST_TEST(fold_run.turn_state() == "open r2");
    }
}

BOOST_AUTO_TEST_CASE(an_event_recorded_before_the_due_time_finds_the_candidate_standing) {
    FoldRun fold_run = finished_once();
    fold_run.after(1999999us).read({status("r2", 5s, "running")});
    BOOST_TEST(fold_run.turns() == "-");
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_repeat_recorded_past_the_due_time_fires_the_timer_too) {
    FoldRun fold_run = finished_once();
    fold_run.after(2s).read({status("f1", 4s, "finished")});
    BOOST_TEST((fold_run.applied() == Applied::repeat));
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(a_detail_recorded_past_the_due_time_comes_too_late) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("e1", 2s, "error")});
    fold_run.after(2s).read({error_detail("d1", 3s, "Code", "why")});
    BOOST_TEST(fold_run.turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(timers_run_by_record_time_whatever_the_events_own_clock_says) {
    FoldRun fold_run;
    fold_run.after(1h).read({status("f1", 0s, "finished")});
    BOOST_TEST(fold_run.turn_state() == "candidate start due=+3602s");
    BOOST_TEST((due_at(fold_run.conversation()) == fold_start + 3602s));
    BOOST_TEST(fold_run.settles().turns() == "start finished by f1");
    BOOST_TEST(!due_at(fold_run.conversation()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(repeats_and_late_events)

BOOST_AUTO_TEST_CASE(a_repeated_id_steers_nothing_wherever_it_comes_from) {
    FoldRun fold_run = counted_once();
    for (const Event& event : {user_says("u1", 1s), status("r1", 20s, "running"),
                               agent_finishes("a1", 21s, "No."), status("f1", 22s, "error")}) {
        fold_run.read({event});
        BOOST_TEST((fold_run.applied() == Applied::repeat));
    }
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(the_last_64_steering_ids_are_remembered) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("f1", 1s, "stuck")});
    for (int i = 0; i < 62; ++i) fold_run.read({user_says("m" + std::to_string(i), 2s)});
    BOOST_TEST(fold_run.conversation().recent.size() == 64U);
    fold_run.read({user_says("u1", 1s)});
    BOOST_TEST((fold_run.applied() == Applied::repeat));
    fold_run.read({user_says("m62", 2s), user_says("u1", 1s)});
    BOOST_TEST((fold_run.applied() == Applied::applied));
    BOOST_TEST(fold_run.conversation().recent.size() == 64U);
}

BOOST_AUTO_TEST_CASE(observations_and_actions_do_not_use_up_the_memory_of_ids) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s)});
    for (int i = 0; i < 200; ++i) fold_run.read({v1_event("o" + std::to_string(i), 2s, Activity{})});
    BOOST_TEST(fold_run.conversation().recent.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_message_told_after_the_turn_that_it_opened_has_ended_opens_no_other) {
    // As webhooks of 1.35.0 told it: the newest five events first.
    for (const bool has_settled : {false, true}) {
        FoldRun fold_run;
        fold_run.read({agent_acts("a1", 12s), status("f1", 15s, "finished")});
        if (has_settled) fold_run.settles();
        fold_run.read({user_says("u1", 10s), status("r1", 11s, "running")});
        BOOST_TEST(fold_run.settles().turns() ==
                   (has_settled ? "start finished by f1" : "u1 finished by f1"));
        fold_run.read({user_says("u2", 20s)});
        BOOST_TEST(fold_run.turn_state() == "open u2");
    }
    FoldRun failed;
    failed.read({status("e1", 15s, "error")});
    failed.read({user_says("u1", 10s)});
    BOOST_TEST(failed.settles().turns() == "u1 error by e1");
}

/// A second turn's events, of which the later ones come first, as 1.7.3's webhooks tell them.
struct Overtaken {
    std::vector<Event> end;        ///< with or without the words before it
    std::vector<Event> beginning;  ///< as told after the end
    const char* turn;
};

BOOST_AUTO_TEST_CASE(a_message_told_after_the_end_of_a_second_turn_opens_the_turn_that_has_ended) {
    const Event said = user_says("u2", 10s);
    const Event resumed = status("r2", 11s, "running");
    const Event worked = agent_acts("a2", 12s);
    const Event words = agent_finishes("w2", 14s, "More.");
    const Event done = status("f2", 15s, "finished");
    for (const Overtaken& each : std::vector<Overtaken>{
             {{words, done},
              {status("i2", 9s, "idle"), said, resumed, worked},
              "u2 finished by f2 \"More.\""},
             {{done}, {said, resumed, worked, words}, "u2 finished by f2 \"More.\""},
             {{words, done}, {resumed, said, worked}, "u2 finished by f2 \"More.\""},
             {{done}, {resumed, said, words}, "u2 finished by f2 \"More.\""},
             {{agent_says("w2", 14s, "Which?"), done}, {said}, "u2 awaiting_user_input by f2 \"Which?\""},
             {{done}, {resumed, worked}, "r2 finished by f2"},
             {{status("s2", 15s, "stuck")}, {said, resumed}, "u2 stuck by s2"},
             {{status("e2", 15s, "error"), error_detail("d2", 16s, "Code", "why")},
              {said, resumed},
              "u2 error by e2 [Code: why]"},
             {{status("e2", 15s, "error")},
              {said, resumed, error_detail("d2", 16s, "Code", "why")},
              "u2 error by e2 [Code: why]"}}) {
        FoldRun fold_run = counted_once();
        fold_run.read(each.end);
        BOOST_TEST(fold_run.settles().turn_state() == "ended");
        fold_run.read(each.beginning).settles();
        BOOST_TEST(fold_run.turns() == std::string("u1 finished by f1 \"Done.\"; ") + each.turn);
        BOOST_TEST(fold_run.turn_state() == "ended");
        fold_run.read({said, worked, user_says("joined", 13s)}).settles();
        BOOST_TEST(fold_run.turn_state() == "ended");
        fold_run.read({user_says("u3", 20s)});
        BOOST_TEST(fold_run.turn_state() == "open u3");
    }
}

BOOST_AUTO_TEST_CASE(an_end_told_before_the_first_one_has_settled_ends_the_turn_that_it_is_of) {
    FoldRun fold_run = finished_once();
    fold_run.read({status("f2", 15s, "finished"), user_says("u2", 10s), status("r2", 11s, "running"),
                   agent_finishes("w2", 14s, "More.")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"; u2 finished by f2 \"More.\"");
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(what_an_end_has_overtaken_is_not_late_before_that_end_is_applied) {
    FoldRun fold_run = counted_once();
    fold_run.read({status("f2", 300s, "finished"), user_says("u2", 10s)});
    BOOST_TEST((fold_run.applied() == Applied::applied));
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"; u2 finished by f2");
    fold_run.read({status("r2", 11s, "running")});
    BOOST_TEST((fold_run.applied() == Applied::late));
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(an_end_whose_turn_is_never_told_ends_no_other) {
    FoldRun fold_run = counted_once();
    fold_run.read({agent_finishes("w2", 14s, "More."), status("f2", 15s, "finished"), user_says("u3", 20s)});
    BOOST_TEST(fold_run.settles().turn_state() == "open u3");
    fold_run.read({status("f3", 25s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done.\"; u3 finished by f3");
}

BOOST_AUTO_TEST_CASE(a_steering_event_more_than_30_s_older_than_the_newest_status_is_late) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 60s), status("r1", 100s, "running")});
    fold_run.read({status("e1", 69999999us, "error")});
    BOOST_TEST((fold_run.applied() == Applied::late));
    BOOST_TEST(fold_run.settles().turn_state() == "open u1");
    fold_run.read({status("e2", 70s, "error")});
    BOOST_TEST((fold_run.applied() == Applied::applied));
    BOOST_TEST(fold_run.settles().turns() == "u1 error by e2");
}

BOOST_AUTO_TEST_CASE(a_late_user_message_neither_opens_nor_counts) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 60s), status("f1", 100s, "finished"), user_says("u2", 1s)});
    BOOST_TEST((fold_run.applied() == Applied::late));
    BOOST_TEST(fold_run.turn_state() == "candidate u1 due=+2s");
}

BOOST_AUTO_TEST_CASE(a_late_event_is_kept_for_the_digest) {
    FoldRun fold_run;
    Event event = agent_says("a1", 1s, "Late.");
    event.work.push_back(FileChanged{"a.txt"});
    fold_run.read({user_says("u1", 60s), status("r1", 100s, "running"), event, status("s1", 101s, "stuck")});
    BOOST_REQUIRE(fold_run.ended().size() == 1U);
    BOOST_TEST(files_of(fold_run.ended().front()) == std::vector<std::string>{"a.txt"});
}

BOOST_AUTO_TEST_CASE(a_late_event_read_twice_is_a_repeat_the_second_time) {
    FoldRun fold_run;
    fold_run.read({status("r1", 100s, "running"), user_says("u1", 1s), user_says("u1", 1s)});
    BOOST_TEST((fold_run.applied() == Applied::repeat));
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_is_late_until_it_has_caught_up) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("f1", 4000s, "finished")});
    fold_run.settles();
    for (int i = 0; i < 3; ++i) {
        fold_run.read({user_says("u2." + std::to_string(i), std::chrono::seconds{400 + i})});
        BOOST_TEST((fold_run.applied() == Applied::late));
    }
    fold_run.read({user_says("u3", 3971s)});
    BOOST_TEST(fold_run.turn_state() == "open u3");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(the_digest)

BOOST_AUTO_TEST_CASE(work_goes_to_the_turn_in_which_it_was_read) {
    Event first = agent_acts("a1", 2s);
    first.work.push_back(FileChanged{"one.txt"});
    Event second = agent_acts("a2", 5s);
    second.work.push_back(FileChanged{"two.txt"});
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), first, status("s1", 3s, "stuck"), user_says("u2", 4s), second,
                   status("s2", 6s, "stuck")});
    BOOST_REQUIRE(fold_run.ended().size() == 2U);
    BOOST_TEST(files_of(fold_run.ended()[0]) == std::vector<std::string>{"one.txt"});
    BOOST_TEST(files_of(fold_run.ended()[1]) == std::vector<std::string>{"two.txt"});
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_when_nobody_watches) {
    Event event = agent_acts("a1", 2s);
    event.work.push_back(FileChanged{"one.txt"});
    FoldRun fold_run{FoldRules{2s, false}};
    fold_run.read({user_says("u1", 1s), event, status("s1", 3s, "stuck")});
    BOOST_TEST((fold_run.ended().at(0).digest == Digest{}));
}

BOOST_AUTO_TEST_CASE(work_that_ends_after_finished_still_counts) {
    Event started = agent_acts("a1", 3s);
    started.work.push_back(CommandStarted{"a1", "make"});
    Event done = v1_event("o1", 5s, Activity{});
    done.work.push_back(CommandEnded{"a1", 2});
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), started, status("f1", 4s, "finished"), done});
    fold_run.settles();
    BOOST_REQUIRE(fold_run.ended().at(0).digest.checks.size() == 1U);
    BOOST_TEST(fold_run.ended()[0].digest.checks[0].exit_code.value_or(-1) == 2);
}

BOOST_AUTO_TEST_CASE(what_the_turn_took_is_the_difference_between_its_end_and_its_beginning) {
    const auto told = [](std::string id, Micros at, UsageTold usage) {
        Event event = v1_event(std::move(id), at, Activity{});
        event.work.emplace_back(usage);
        return event;
    };
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), agent_acts("a1", 2s), told("s1", 3s, {100, 10, 1}),
                   status("f1", 4s, "stuck"), user_says("u2", 5s), agent_acts("a2", 6s), agent_acts("a3", 7s),
                   told("s2", 8s, {250, 30, 4}), told("s1", 3s, {100, 10, 1}), status("f2", 65s, "stuck")});
    BOOST_REQUIRE(fold_run.ended().size() == 2U);
    const auto& first = fold_run.ended()[0].digest.figures;
    const auto& second = fold_run.ended()[1].digest.figures;
    BOOST_TEST((first.usage == UsageTold{100, 10, 1}));
    BOOST_TEST(first.steps == 1);
    BOOST_TEST(first.seconds.value_or(-1) == 3);
    BOOST_TEST((second.usage == UsageTold{150, 20, 3}));
    BOOST_TEST(second.steps == 2);
    BOOST_TEST(second.seconds.value_or(-1) == 60);
}

BOOST_AUTO_TEST_CASE(what_a_turn_took_whose_beginning_was_not_seen_is_not_known) {
    Event told = v1_event("s1", 3s, Activity{});
    told.work.emplace_back(UsageTold{100, 10, 1});
    FoldRun fold_run;
    fold_run.read({agent_acts("a1", 2s), told, status("f1", 4s, "stuck")});
    BOOST_TEST(!fold_run.ended().at(0).digest.figures.usage.has_value());
    BOOST_TEST(!fold_run.ended()[0].digest.figures.seconds.has_value());
}

BOOST_AUTO_TEST_CASE(events_read_again_add_nothing_to_the_digest) {
    Event edit = v1_event("o1", 3s, Activity{});
    edit.work.emplace_back(FileChanged{"a", FileChange::edited, LineChange{2, 1}});
    Event run = v1_event("o2", 4s, Activity{});
    run.work.emplace_back(CommandEnded{"a2", 1, "npm ci", "error"});
    Event again = v1_event("o3", 5s, Activity{});
    again.work.emplace_back(CommandEnded{"a3", 0, "npm ci", ""});
    const std::vector<Event> work{agent_acts("a1", 2s), edit, run, again};
    FoldRun once;
    once.read({user_says("u1", 1s)}).read(work).read({status("f1", 9s, "stuck")});
    FoldRun twice;
    twice.read({user_says("u1", 1s)}).read(work).read(work).read({edit, run, status("f1", 9s, "stuck")});
    BOOST_TEST((once.ended().at(0).digest == twice.ended().at(0).digest));
}

BOOST_AUTO_TEST_SUITE_END()
