// The follower of a session socket, without a socket.
#define BOOST_TEST_MODULE agent_relay_follow_session_plan
#include "agent/relay/follow/session_plan.h"

#include <boost/test/unit_test.hpp>

#include "plan_fixture.h"

using namespace epilogue::relay;
using namespace std::chrono_literals;

namespace {

using Session = Played<SessionPlan>;
using Set = std::pair<Timer, std::chrono::milliseconds>;

/// One that stands behind a, b and c.
struct Midway : Session {
    Midway() : Session(LogPosition{3, "c"}) {
        begin();
        after(SyncFrame{2});
        after_event("c", 2);
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_new_conversation_is_read_from_its_first_event_with_the_servers_numbers) {
    Session session;
    BOOST_TEST(session.begin() == "open -1");
    BOOST_TEST(session.after(SyncFrame{1}) == "");
    BOOST_TEST(session.after_event("a", 0) == "a#0");
    BOOST_TEST(session.after_event("b", 1) == "b#1");
}

BOOST_AUTO_TEST_CASE(what_stands_at_the_stored_position_comes_once_more_and_is_not_produced) {
    Session session(LogPosition{3, "c"});
    BOOST_TEST(session.begin() == "open 1");
    BOOST_TEST(session.after(SyncFrame{3}) == "");
    BOOST_TEST(session.after_event("c", 2) == "");
    BOOST_TEST(session.after_event("d", 3) == "d#3");
}

BOOST_AUTO_TEST_CASE(another_event_at_our_place_means_another_log_and_it_is_read_anew_without_numbers) {
    Session session(LogPosition{3, "c"});
    session.begin();
    session.after(SyncFrame{5});
    BOOST_TEST(session.after_event("z", 2) == "open -1");
    session.after(SyncFrame{5});
    BOOST_TEST(session.after_event("x", 0) == "x");
    BOOST_TEST(session.plan.step(Acked{session.tickets.back()}).size() == 1U);
    BOOST_TEST((session.plan.position() == LogPosition{1, "x", true}));
}

BOOST_AUTO_TEST_CASE(a_log_that_is_shorter_than_what_was_read_is_another_one) {
    Session session(LogPosition{3, "c"});
    session.begin();
    BOOST_TEST(session.after(SyncFrame{1}) == "open -1");
    Session emptied(LogPosition{3, "c"});
    emptied.begin();
    BOOST_TEST(emptied.after(SyncFrame{std::nullopt}) == "open -1");
}

BOOST_AUTO_TEST_CASE(the_position_moves_only_as_far_as_everything_before_it_is_acknowledged) {
    Session session;
    session.begin();
    for (int i = 0; i < 3; ++i) session.after_event(std::string(1, static_cast<char>('a' + i)), i);
    BOOST_TEST(session.after(Acked{session.tickets[1]}) == "");
    BOOST_TEST(session.plan.position().next == 0);
    BOOST_TEST(session.after(Acked{session.tickets[0]}) == "at 2 b");
    BOOST_TEST(session.after(Acked{session.tickets[2]}) == "at 3 c");
    BOOST_TEST(session.after(Acked{session.tickets[2]}) == "");
}

BOOST_AUTO_TEST_CASE(what_the_topic_gives_up_is_read_again_from_the_last_acknowledged_one) {
    Session session;
    session.begin();
    session.after_event("a", 0);
    session.after_event("b", 1);
    session.after_event("c", 2);
    session.after(Acked{session.tickets[0]});
    BOOST_TEST(session.after(GivenUp{session.tickets[1]}) == "open -1 in 5000");
    // What was sent behind it counts no more, however it ends.
    BOOST_TEST(session.after(Acked{session.tickets[2]}) == "");
    BOOST_TEST(session.after(GivenUp{session.tickets[2]}) == "");
    BOOST_TEST(session.after_event("a", 0) == "");
    BOOST_TEST(session.after_event("b", 1) == "b#1");
}

BOOST_AUTO_TEST_CASE(what_the_topic_gives_up_again_and_again_is_read_again_more_and_more_seldom) {
    Session session;
    session.begin();
    std::vector<std::string> said;
    for (int i = 0; i < 6; ++i) {
        session.after_event("a", 0);
        said.push_back(session.after(GivenUp{session.tickets.back()}));
    }
    BOOST_TEST(said == (std::vector<std::string>{"open -1 in 5000", "open -1 in 10000", "open -1 in 20000",
                                                 "open -1 in 40000", "open -1 in 50000", "open -1 in 50000"}),
               boost::test_tools::per_element());
    // One that the topic has ends that.
    session.after_event("a", 0);
    session.after(Acked{session.tickets.back()});
    session.after_event("b", 1);
    BOOST_TEST(session.after(GivenUp{session.tickets.back()}) == "open -1 in 5000");
}

BOOST_AUTO_TEST_CASE(after_a_break_it_goes_on_behind_what_was_produced) {
    Midway session;
    session.after_event("d", 3);
    BOOST_TEST(session.after(SocketDown{}) == "open 2");
    BOOST_TEST(session.after_event("d", 3) == "");
    BOOST_TEST(session.after_event("e", 4) == "e#4");
}

BOOST_AUTO_TEST_CASE(a_frame_that_overtakes_another_waits_for_it) {
    Midway session;
    BOOST_TEST(session.after_event("e", 4) == "");
    BOOST_TEST(session.after_event("f", 5) == "");
    BOOST_TEST(session.after_event("d", 3) == "d#3 | e#4 | f#5");
}

BOOST_AUTO_TEST_CASE(a_terminal_status_is_not_produced_before_what_stands_before_it) {
    Midway session;
    BOOST_TEST(session.after(EventFrame{event_at("end", 0, "execution_status", "finished"), 4}) == "");
    BOOST_TEST(session.after_event("words", 3) == "words#3 | end#4");
}

BOOST_AUTO_TEST_CASE(an_event_that_never_comes_is_asked_for_and_what_the_log_shows_of_it_is_filled_in) {
    Midway session;
    session.after_event("f", 5);
    BOOST_CHECK(session.timers.back() == Set(Timer::again, 2s));
    BOOST_TEST(session.after(TimerFired{Timer::again}) == "read from c");
    BOOST_TEST(session.after_page({event_at("c"), event_at("d"), event_at("e"), event_at("f"),
                                   event_at("g")}) == "d#3 | e#4 | gap 2/2/0 | f#5");
    BOOST_TEST(session.after_event("g", 6) == "g#6");
}

BOOST_AUTO_TEST_CASE(an_event_that_the_server_cannot_read_is_counted_as_lost_and_passed) {
    Midway session;
    session.after_event("f", 5);
    session.after(TimerFired{Timer::again});
    BOOST_TEST(session.after_page({event_at("c"), event_at("f")}) == "gap 2/0/2 | f#5");
    BOOST_TEST(session.after_event("g", 6) == "g#6");
}

BOOST_AUTO_TEST_CASE(what_several_pages_fill_in_is_counted_with_each_of_them) {
    Midway session;
    session.after_event("g", 6);
    session.after(TimerFired{Timer::again});
    BOOST_TEST(session.after_page({event_at("c"), event_at("d")}, "e") == "d#3 | gap 1/1/0 | read from d");
    BOOST_TEST(session.after_page({event_at("d"), event_at("e"), event_at("g")}) == "e#4 | gap 2/1/1 | g#6");
}

BOOST_AUTO_TEST_CASE(an_event_that_neither_the_socket_nor_rest_can_show_is_counted_as_lost) {
    Midway session;
    session.after(SocketDown{true});
    BOOST_TEST(session.after_page({event_at("c")}) == "gap 1/0/1 | open 3");
    BOOST_TEST(session.after_event("e", 4) == "e#4");
}

BOOST_AUTO_TEST_CASE(what_came_by_itself_while_it_was_asked_for_is_not_produced_twice) {
    Midway session;
    session.after_event("e", 4);
    session.after(TimerFired{Timer::again});
    BOOST_TEST(session.after_event("d", 3) == "d#3 | e#4");
    BOOST_TEST(session.after_page({event_at("c"), event_at("d"), event_at("e")}) == "");
}

BOOST_AUTO_TEST_CASE(a_page_that_does_not_begin_where_we_stand_means_another_log) {
    Midway session;
    session.after_event("e", 4);
    session.after(TimerFired{Timer::again});
    BOOST_TEST(session.after_page({event_at("x"), event_at("y")}) == "open -1");
}

BOOST_AUTO_TEST_CASE(an_event_too_large_for_a_frame_is_stepped_over_by_rest) {
    Midway session;
    BOOST_TEST(session.after(SocketDown{true}) == "read from c");
    BOOST_TEST(session.after_page({event_at("c"), event_at("large"), event_at("e")}) ==
               "large#3 | e#4 | open 4");
    BOOST_TEST(session.after_event("f", 5) == "f#5");
}

BOOST_AUTO_TEST_CASE(a_reading_that_fails_is_tried_again_as_late_as_the_server_wants) {
    Midway session;
    session.after(SocketDown{true});
    BOOST_TEST(session.after(ReadFailed{20s}) == "");
    BOOST_CHECK(session.timers.back() == Set(Timer::again, 20s));
    BOOST_TEST(session.after(TimerFired{Timer::again}) == "read from c");
}

BOOST_AUTO_TEST_CASE(when_our_own_place_is_the_one_too_large_the_next_connection_begins_behind_it) {
    Session session(LogPosition{3, "large"});
    session.begin();
    session.after(SyncFrame{2});
    BOOST_TEST(session.after(SocketDown{true}) == "read from large");
    BOOST_TEST(session.after_page({event_at("large"), event_at("d")}) == "d#3 | open 3");
}

BOOST_AUTO_TEST_CASE(events_that_wait_take_only_so_much_room) {
    PlanRules rules;
    rules.held_bytes = 2;
    Session session(LogPosition{0, ""}, rules);
    session.begin();
    session.after_event("b", 1);
    session.after_event("cc", 2);
    BOOST_TEST(session.after_event("d", 3) == "read");
    // What was not kept comes again on a new connection.
    BOOST_TEST(session.after_page({event_at("a"), event_at("b"), event_at("cc"), event_at("d")}) ==
               "a#0 | gap 1/1/0 | b#1 | cc#2 | open 1");
}

BOOST_AUTO_TEST_CASE(
    the_first_snapshot_of_a_subscription_is_left_out_and_a_later_one_says_that_a_run_is_over) {
    Midway session;
    BOOST_TEST(session.after_snapshot("s1") == "");
    session.after_event("end", 3);
    BOOST_TEST(session.after_snapshot("s2") == "s2!");
    session.after(SocketDown{});
    BOOST_TEST(session.after_snapshot("s3") == "");
    BOOST_TEST(session.after_snapshot("s4") == "s4!");
}

BOOST_AUTO_TEST_CASE(a_run_over_waits_for_what_stands_before_it_and_moves_no_position) {
    Midway session;
    session.after_snapshot("s1");
    session.after_event("end", 4);
    BOOST_TEST(session.after_snapshot("s2") == "");
    BOOST_TEST(session.after_event("words", 3) == "words#3 | end#4 | s2!");
    session.acknowledge_all();
    BOOST_TEST((session.plan.position() == LogPosition{5, "end"}));
}

BOOST_AUTO_TEST_CASE(deltas_are_left_out) {
    Midway session;
    auto delta = event_at("delta");
    delta.kind = "StreamingDeltaEvent";
    BOOST_TEST(session.after(EventFrame{delta}) == "");
}

BOOST_AUTO_TEST_CASE(a_socket_that_is_silent_while_the_log_grows_is_opened_anew) {
    Midway session;
    BOOST_TEST(session.after(TimerFired{Timer::look}) == "count");
    BOOST_TEST(session.after(CountRead{3}) == "");
    session.after(TimerFired{Timer::look});
    BOOST_TEST(session.after(CountRead{4}) == "");
    BOOST_TEST(session.after(TimerFired{Timer::look}) == "count");
    BOOST_TEST(session.after(CountRead{4}) == "open 1");
    session.after(SyncFrame{3});
    session.after_event("c", 2);
    BOOST_TEST(session.after_event("d", 3) == "d#3 | gap 1/1/0");
    // One that is only a little behind is left alone.
    Midway busy;
    busy.after(TimerFired{Timer::look});
    busy.after(CountRead{4});
    busy.after_event("d", 3);
    BOOST_TEST(busy.after(CountRead{5}) == "");
}

namespace {

/// The log's count, twice, as nothing comes meanwhile.
std::string after_two_looks(Session& session, std::int64_t count) {
    session.after(TimerFired{Timer::look});
    session.after(CountRead{count});
    session.after(TimerFired{Timer::look});
    return session.after(CountRead{count});
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_server_counts_and_never_shows_is_counted_as_lost_once) {
    Midway session;
    BOOST_TEST(after_two_looks(session, 5) == "open 1");
    session.after(SyncFrame{2});
    session.after_event("c", 2);
    // Nor did the new socket tell it: REST has the last word.
    BOOST_TEST(after_two_looks(session, 5) == "read from c");
    BOOST_TEST(!session.plan.caught_up());
    BOOST_TEST(session.after(ReadFailed{}) == "");
    BOOST_TEST(session.after(TimerFired{Timer::again}) == "read from c");
    BOOST_TEST(session.after_page({event_at("c")}) == "gap 2/0/2");
    BOOST_TEST(session.plan.caught_up());
    BOOST_TEST(after_two_looks(session, 5) == "");
    BOOST_TEST(session.plan.caught_up());
    // What is written from now on comes, whether or not the server numbers those, and is counted no second
    // time.
    session.after_event("d", 3);
    BOOST_TEST(after_two_looks(session, 6) == "");
    session.after_event("e", 6);
    session.after(TimerFired{Timer::again});
    BOOST_TEST(session.after_page({event_at("d"), event_at("e")}) == "e#6");
}

BOOST_AUTO_TEST_CASE(what_only_rest_shows_behind_a_deaf_socket_is_filled_in) {
    Midway session;
    after_two_looks(session, 6);
    session.after_event("c", 2);
    after_two_looks(session, 6);
    BOOST_TEST(session.after_page({event_at("c"), event_at("d")}, "e") == "d#3 | read from d");
    BOOST_TEST(session.after_page({event_at("d"), event_at("e")}) == "e#4 | gap 3/2/1");
}

BOOST_AUTO_TEST_CASE(looks_become_rarer_with_each_silent_one) {
    Midway session;
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 5; ++i) {
        session.after(TimerFired{Timer::look});
        session.after(CountRead{3});
        waits.push_back(session.timers.back().second / 1min);
    }
    BOOST_TEST(waits == (std::vector<std::int64_t>{2, 4, 8, 10, 10}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_no_more_ends_the_plan) {
    Midway session;
    BOOST_TEST(session.after(NotFound{}) == "ended");
    BOOST_TEST(session.after_event("d", 3) == "");
}

BOOST_AUTO_TEST_CASE(how_far_behind_is_what_the_server_is_known_to_have_more) {
    Session session(LogPosition{3, "c"});
    session.begin();
    session.after(SyncFrame{9});
    BOOST_TEST(session.plan.behind() == 7);
    session.after_event("d", 3);
    BOOST_TEST(session.plan.behind() == 7);
    session.acknowledge_all();
    BOOST_TEST(session.plan.behind() == 6);
}
