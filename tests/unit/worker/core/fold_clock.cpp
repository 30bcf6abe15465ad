// Whose clock counts (contract §4): the server's index, its zone, and a clock that is set back.
#define BOOST_TEST_MODULE fold_clock
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"
#include "worker/core/server_clock.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

/// A turn of a live server whose clock is in `zone`; it begins `since` after the run's start.
std::vector<Event> turn(const std::string& name, Micros since, Micros zone) {
    return {user_says("u" + name, since + 1s + zone), status("r" + name, since + 2s + zone, "running"),
            agent_finishes("a" + name, since + 3s + zone, "Done " + name + "."),
            status("f" + name, since + 4s + zone, "finished")};
}

/// Each event is read when it happens.
FoldRun& live(FoldRun& fold_run, const std::vector<Event>& events) {
    for (const Event& event : events) fold_run.after(1s).read({event});
    return fold_run.after(6s).ticks();
}

Event with_seq(Event event, std::int64_t seq) {
    event.seq = seq;
    return event;
}

FoldRun by_row(const FoldRun& fold_run) {
    const auto read = from_row(to_row(fold_run.conversation()));
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(to_row(*read).fold == to_row(fold_run.conversation()).fold);
    return fold_run;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_clock_set_back_between_two_turns_makes_no_live_end_late) {
    for (const Micros zone : {Micros{-15min}, Micros{-1h}, Micros{-5h}, Micros{-12h}}) {
        FoldRun fold_run;
        live(fold_run, turn("1", 0s, 0s));
        live(fold_run, turn("2", 10s, zone));
        live(fold_run, turn("3", 20s, zone));
        BOOST_TEST(
            fold_run.turns() ==
            "u1 finished by f1 \"Done 1.\"; u2 finished by f2 \"Done 2.\"; u3 finished by f3 \"Done 3.\"");
        BOOST_TEST((fold_run.conversation().zone == std::chrono::duration_cast<std::chrono::minutes>(zone)));
    }
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_within_a_turn_makes_its_end_not_late) {
    FoldRun fold_run;
    live(fold_run, turn("1", 0s, 0s));
    std::vector<Event> second = turn("2", 10s, 0s);
    for (std::size_t i = 1; i < second.size(); ++i) *second[i].timestamp -= 1h;
    live(fold_run, second);
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done 1.\"; u2 finished by f2 \"Done 2.\"");
}

BOOST_AUTO_TEST_CASE(a_clock_moved_forth_and_back_again_makes_nothing_late) {
    FoldRun fold_run;
    live(fold_run, turn("1", 0s, 0s));
    live(fold_run, turn("2", 10s, 9h));
    BOOST_TEST((fold_run.conversation().zone == 9h));
    live(fold_run, turn("3", 20s, 0s));
    live(fold_run, turn("4", 30s, 0s));
    BOOST_TEST(fold_run.ended().size() == 4U);
    BOOST_TEST((fold_run.conversation().zone == 0min));
    BOOST_TEST((fold_run.conversation().newest == fold_start + 34s));
}

BOOST_AUTO_TEST_CASE(times_of_a_server_east_of_utc_are_kept_in_utc) {
    FoldRun fold_run;
    live(fold_run, turn("1", 0s, 9h));
    BOOST_TEST((fold_run.conversation().newest == fold_start + 4s));
}

BOOST_AUTO_TEST_CASE(a_server_west_of_utc_that_the_topic_alone_tells_of_has_the_turns_of_one_in_utc) {
    for (const Micros zone : {Micros{-15min}, Micros{-5h}, Micros{-12h}}) {
        FoldRun fold_run;
        live(fold_run, turn("1", 0s, zone));
        live(fold_run, turn("2", 10s, zone));
        live(fold_run, turn("3", 20s, zone - 3h));  // set back once more
        live(fold_run, turn("4", 30s, zone));       // and forth
        Event late = turn("5", 10s, zone).at(1);
        fold_run.after(1s).read({late});
        BOOST_TEST(
            fold_run.turns() ==
            "u1 finished by f1 \"Done 1.\"; u2 finished by f2 \"Done 2.\"; u3 finished by f3 \"Done 3.\"; "
            "u4 finished by f4 \"Done 4.\"");
    }
}

BOOST_AUTO_TEST_CASE(old_events_that_come_alone_or_in_pairs_stay_late_also_when_they_are_of_a_quarter_hour) {
    FoldRun fold_run;
    fold_run.after(2h);
    live(fold_run, turn("1", 2h, 0s));
    const std::size_t once = fold_run.ended().size();
    fold_run.read({status("x1", 1h, "running"), user_says("x2", 1h)});
    BOOST_TEST((fold_run.applied() == Applied::late));
    live(fold_run, turn("2", 2h + 10s, 0s));
    BOOST_TEST(fold_run.ended().size() == once + 1);
    BOOST_TEST(!fold_run.conversation().clock_jump.has_value());
}

BOOST_AUTO_TEST_CASE(an_old_log_that_is_read_at_once_keeps_its_order_whatever_its_zone) {
    for (const Micros age : {Micros{0s}, Micros{-5h}, Micros{4h}, Micros{9h}}) {
        FoldRun fold_run;
        for (int i = 0; i < 40; ++i) {
            fold_run.read(turn(std::to_string(i), age + i * 7min, 0s));
            if (i == 20) fold_run = by_row(fold_run);
        }
        BOOST_TEST(fold_run.settles().ended().size() == 40U);
    }
}

BOOST_AUTO_TEST_CASE(what_is_kept_back_survives_its_row) {
    FoldRun fold_run;
    live(fold_run, turn("1", 0s, 0s));
    const auto next = turn("2", 10s, -1h);
    fold_run.after(1s).read({next[0]}).after(1s).read({next[1]});
    BOOST_TEST(fold_run.conversation().clock_jump->held.size() == 2U);
    auto read = from_row(to_row(fold_run.conversation()));
    BOOST_REQUIRE(read.has_value());
    Folded folded = fold(std::move(*read), next[2], fold_start + 13s, {});
    BOOST_TEST(told(folded.conversation.turn_state) == "open u2 finish \"Done 2.\"");
}

BOOST_AUTO_TEST_CASE(each_kind_of_event_that_is_kept_back_survives_its_row) {
    const std::vector<Event> kinds{user_says("e", 1s),           agent_acts("e", 1s),
                                   agent_says("e", 1s, "Hm"),    agent_finishes("e", 1s, "Ho"),
                                   status("e", 1s, "error"),     error_detail("e", 1s, "Code", "why"),
                                   goal("e", 1s, "capped", 3),   v1_event("e", 1s, StopHookVerdict{true}),
                                   v1_event("e", 1s, Activity{})};
    for (const Event& event : kinds) {
        Conversation conversation;
        conversation.clock_jump = ClockJump{std::chrono::minutes{-60}, 1, {{event, fold_start}}};
        const ConversationRow row = to_row(conversation);
        const auto read = from_row(row);
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(to_row(*read).fold == row.fold);
        BOOST_TEST(read->clock_jump->held.at(0).event.body.index() == event.body.index());
    }
}

BOOST_AUTO_TEST_CASE(times_that_say_their_zone_are_taken_as_they_are) {
    FoldRun fold_run;
    live(fold_run, turn("1", 0s, 0s));
    auto back = turn("2", 10s, -1h);
    for (Event& event : back) event.is_utc = true;
    live(fold_run, back);
    BOOST_TEST(fold_run.ended().size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_event_of_a_higher_seq_is_never_late_whatever_its_timestamp_says) {
    FoldRun fold_run;
    std::int64_t seq = 0;
    for (const Event& event : turn("1", 0s, 0s)) fold_run.read({with_seq(event, seq++)});
    fold_run.settles();
    for (const Event& event : turn("2", -1h - 7min, 0s)) fold_run.read({with_seq(event, seq++)});
    BOOST_TEST(fold_run.settles().turns() == "u1 finished by f1 \"Done 1.\"; u2 finished by f2 \"Done 2.\"");
}

BOOST_AUTO_TEST_CASE(with_seq_the_latest_word_is_the_turns_whatever_its_timestamp_says) {
    FoldRun fold_run;
    fold_run.read({with_seq(user_says("u1", 100s), 1), with_seq(agent_says("a1", 101s, "First."), 2),
                   with_seq(agent_finishes("a2", 50s, "Last."), 3),
                   with_seq(status("f1", 51s, "finished"), 4), with_seq(status("r1", 20s, "running"), 5)});
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Last.\"");
}

BOOST_AUTO_TEST_CASE(a_seq_that_is_not_above_the_highest_applied_is_a_repeat) {
    FoldRun fold_run;
    fold_run.read({with_seq(user_says("u1", 1s), 7), with_seq(status("e1", 2s, "stuck"), 6)});
    BOOST_TEST((fold_run.applied() == Applied::repeat));
    BOOST_TEST(fold_run.turn_state() == "open u1");
}

BOOST_AUTO_TEST_CASE(a_known_id_is_a_repeat_whatever_its_seq) {
    FoldRun fold_run = counted_once();
    fold_run.read({with_seq(user_says("u1", 1s), 3)});
    BOOST_TEST((fold_run.applied() == Applied::repeat));
}

BOOST_AUTO_TEST_CASE(a_seq_orders_nothing_beside_events_without_one_until_it_is_newer_than_they) {
    FoldRun fold_run = finished_once();
    fold_run.read({with_seq(agent_acts("a0", 2500ms), 5)});
    BOOST_TEST(fold_run.turn_state() == "candidate u1 finish \"Done.\" due=+2s");
    fold_run.read({with_seq(status("r2", 5s, "running"), 9)});
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Done.\"");
    BOOST_TEST(fold_run.conversation().follows_seq);
    BOOST_TEST((by_row(fold_run).conversation().highest_seq == 9));
}

BOOST_AUTO_TEST_CASE(zones_are_multiples_of_a_quarter_hour_within_what_the_world_has) {
    BOOST_TEST(nearest_zone(-7min).count() == 0);
    BOOST_TEST(nearest_zone(-8min).count() == -15);
    BOOST_TEST(nearest_zone(5h + 44min).count() == 345);
    BOOST_TEST(is_possible_zone(std::chrono::minutes{14 * 60}));
    BOOST_TEST(!is_possible_zone(std::chrono::minutes{16 * 60}));
}

BOOST_AUTO_TEST_CASE(a_zone_that_the_server_tells_puts_right_what_was_remembered_in_it) {
    FoldRun fold_run;
    live(fold_run, turn("1", 5h, -5h));  // read five hours later as well: nothing shows it
    Conversation conversation = fold_run.after(5h).conversation();
    conversation.last_event_at = fold_start + 5h + 4s;
    learn_zone(conversation, -std::chrono::minutes{5h});
    BOOST_TEST((conversation.newest == fold_start + 5h + 4s));
    conversation.zone.reset();
    learn_zone(conversation, -std::chrono::minutes{1h});  // it cannot have been written there
    BOOST_TEST((conversation.newest == fold_start + 5h + 4s));
}
