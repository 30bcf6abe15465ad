// The follower of a server whose socket numbers nothing, without a server.
#define BOOST_TEST_MODULE agent_relay_follow_log_plan
#include "agent/relay/follow/log_plan.h"

#include <boost/test/unit_test.hpp>

#include "plan_fixture.h"

using namespace epilogue::relay;
using namespace std::chrono_literals;

namespace {

using Log = Played<LogPlan>;
using Set = std::pair<Timer, std::chrono::milliseconds>;

/// One that has read a, b and c, and rests no more.
struct Midway : Log {
    Midway() {
        begin();
        after_snapshot("s1");
        after(CountRead{3});
        after_page({event_at("a", 1), event_at("b", 2), event_at("c", 3)});
        after(TimerFired{Timer::again});
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_subscribes_first_and_then_reads_the_log_and_its_order_is_the_topics) {
    Log log;
    BOOST_TEST(log.begin() == "open");
    BOOST_TEST(log.after_snapshot("s1") == "count");
    BOOST_TEST(log.after(CountRead{3}) == "read");
    BOOST_TEST(log.after_page({event_at("a", 1), event_at("b", 2)}, "c") == "a | b | read from c");
    BOOST_TEST(log.after_page({event_at("c", 3)}) == "c");
    log.acknowledge_all();
    BOOST_TEST((log.plan.position() == LogPosition{3, "c"}));
}

BOOST_AUTO_TEST_CASE(from_a_stored_position_it_reads_on_behind_its_last_event) {
    Log log(LogPosition{3, "c"});
    log.begin();
    log.after_snapshot("s1");
    BOOST_TEST(log.after(CountRead{4}) == "read from c");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("d", 4)}) == "d");
}

BOOST_AUTO_TEST_CASE(a_frame_only_says_that_there_is_something_to_read) {
    Midway log;
    BOOST_TEST(log.after_event("d", std::nullopt, 4) == "read from c");
    // While it is being read another frame makes one more reading, not two at once.
    BOOST_TEST(log.after_event("e", std::nullopt, 5) == "");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("d", 4)}) == "d");
    BOOST_TEST(log.after(TimerFired{Timer::again}) == "read from d");
    BOOST_TEST(log.after_page({event_at("d", 4), event_at("e", 5)}) == "e");
    BOOST_TEST(log.after(TimerFired{Timer::again}) == "");
}

BOOST_AUTO_TEST_CASE(frames_out_of_order_as_1_7_sends_them_with_webhooks_come_in_the_logs_order) {
    // =finished > st > full(finished) > A(finish): as it was seen on a real server.
    Midway log;
    log.after(EventFrame{event_at("finished", 5, "execution_status", "finished")});
    log.after_event("st", std::nullopt, 6);
    log.after_snapshot("over", 7);
    log.after_event("A", std::nullopt, 4);
    BOOST_TEST(log.produced.size() == 3U);
    // A terminal status brings a comparison with the count, and waits for one more after it was read.
    log.after(CountRead{6});
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("A", 4),
                               event_at("finished", 5, "execution_status", "finished"), event_at("st", 6)}) ==
               "A | count");
    BOOST_TEST(log.after(CountRead{6}) == "finished | st");
    log.after(TimerFired{Timer::again});
    BOOST_TEST(log.after_page({event_at("st", 6)}) == "over!");
}

BOOST_AUTO_TEST_CASE(a_run_over_stands_before_what_happened_after_it) {
    Midway log;
    log.after_snapshot("over", 5);
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("finished", 4), event_at("idle", 6)}) ==
               "finished | over! | idle");
}

BOOST_AUTO_TEST_CASE(a_run_over_that_came_while_the_log_was_read_waits_for_the_next_reading) {
    Midway log;
    log.after_event("d", std::nullopt, 4);
    log.after_snapshot("over", 6);
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("d", 4)}) == "d");
    BOOST_TEST(log.after(TimerFired{Timer::again}) == "read from d");
    BOOST_TEST(log.after_page({event_at("d", 4), event_at("finished", 5)}) == "finished | over!");
}

BOOST_AUTO_TEST_CASE(what_the_socket_told_and_reading_on_does_not_show_stands_further_back) {
    Midway log;
    log.after_event("late", std::nullopt, 1.5);
    BOOST_TEST(log.after_page({event_at("c", 3)}) == "read back");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("b", 2), event_at("late", 1.5),
                               event_at("a", 1)}) == "late | gap 1/1/0");
    log.acknowledge_all();
    // It is counted, and reading goes on where it was.
    BOOST_TEST((log.plan.position() == LogPosition{4, "c"}));
}

BOOST_AUTO_TEST_CASE(what_no_socket_told_is_found_by_the_logs_count) {
    Midway log;
    BOOST_TEST(log.after(TimerFired{Timer::look}) == "count");
    BOOST_TEST(log.after(CountRead{4}) == "read from c");
    BOOST_TEST(log.after_page({event_at("c", 3)}) == "read back");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("b", 2)}, "late") == "read back from late");
    BOOST_TEST(log.after_page({event_at("late", 1.5), event_at("a", 1)}) == "late | gap 1/1/0");
    log.after(TimerFired{Timer::again});
    log.after(TimerFired{Timer::look});
    BOOST_TEST(log.after(CountRead{4}) == "read from c");
    BOOST_TEST(log.after_page({event_at("c", 3)}) == "");
}

BOOST_AUTO_TEST_CASE(what_stands_further_back_than_we_remember_has_the_whole_log_read_once) {
    // A new life remembers nothing but its position.
    Log log(LogPosition{3, "c"});
    log.begin();
    log.after_snapshot("s1");
    log.after(CountRead{4});
    BOOST_TEST(log.after_page({event_at("c", 3)}) == "read back");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("b", 2)}) == "read");
    BOOST_TEST(log.after_page({event_at("a", 1), event_at("late", 1.5), event_at("b", 2),
                               event_at("c", 3)}) == "a | late | b | c | gap 1/1/0");
    log.acknowledge_all();
    BOOST_TEST((log.plan.position() == LogPosition{4, "c"}));
}

BOOST_AUTO_TEST_CASE(a_log_that_counts_more_than_it_shows_is_read_through_once_and_no_more) {
    Log log(LogPosition{2, "b"});
    log.begin();
    log.after_snapshot("s1");
    log.after(CountRead{3});
    log.after_page({event_at("b", 2)});
    log.after_page({event_at("b", 2), event_at("a", 1)});
    BOOST_TEST(log.after_page({event_at("a", 1), event_at("b", 2)}) == "a | b | gap 1/0/1");
    log.after(TimerFired{Timer::again});
    log.after(TimerFired{Timer::look});
    BOOST_TEST(log.after(CountRead{3}) == "read from b");
    BOOST_TEST(log.after_page({event_at("b", 2)}) == "");
}

BOOST_AUTO_TEST_CASE(a_server_that_begins_at_the_first_page_again_does_not_know_our_event) {
    Log log(LogPosition{3, "c"});
    log.begin();
    log.after_snapshot("s1");
    log.after(CountRead{2});
    BOOST_TEST(log.after_page({event_at("x", 1), event_at("y", 2)}) == "count");
    BOOST_TEST(log.after(CountRead{2}) == "read");
    BOOST_TEST(log.after_page({event_at("x", 1), event_at("y", 2)}) == "x | y");
    log.acknowledge_all();
    BOOST_TEST((log.plan.position() == LogPosition{2, "y", true}));
}

BOOST_AUTO_TEST_CASE(after_a_break_it_subscribes_again_and_reads_and_compares) {
    Midway log;
    BOOST_TEST(log.after(SocketDown{}) == "open | count");
    log.after(CountRead{3});
    log.after_page({event_at("c", 3)});
    log.after(TimerFired{Timer::again});
    // The new subscription's first frame: what came before it is read once more.
    BOOST_TEST(log.after_snapshot("s2") == "count");
}

BOOST_AUTO_TEST_CASE(what_the_topic_gives_up_is_read_again_although_it_was_seen) {
    Midway log;
    log.after(Acked{log.tickets[0]});
    BOOST_TEST(log.after(GivenUp{log.tickets[1]}) == "");
    BOOST_CHECK(log.timers.back() == Set(Timer::again, 5s));
    BOOST_TEST(log.after_event("c", std::nullopt, 3) == "");  // nothing is read before that
    BOOST_TEST(!log.plan.caught_up());
    BOOST_TEST(log.after(TimerFired{Timer::again}) == "count");
    BOOST_TEST(log.after(CountRead{3}) == "read from a");
    BOOST_TEST(log.after_page({event_at("a", 1), event_at("b", 2), event_at("c", 3)}) == "b | c");
}

BOOST_AUTO_TEST_CASE(a_reading_that_fails_is_tried_again_as_late_as_the_server_wants_and_reads_no_less) {
    Midway log;
    log.after_event("d", std::nullopt, 4);
    BOOST_TEST(log.after(ReadFailed{40s}) == "");
    BOOST_CHECK(log.timers.back() == Set(Timer::again, 40s));
    BOOST_TEST(log.after_event("e", std::nullopt, 5) == "");
    BOOST_TEST(log.after(TimerFired{Timer::again}) == "count");
}

BOOST_AUTO_TEST_CASE(a_log_is_left_alone_for_as_long_as_its_last_reading_took) {
    Midway log;
    log.after_event("d", std::nullopt, 4);
    log.after(PageRead{{event_at("c", 3), event_at("d", 4)}, "", 900ms});
    BOOST_CHECK(log.timers.back() == Set(Timer::again, 900ms));
    BOOST_TEST(log.after_event("e", std::nullopt, 5) == "");
}

BOOST_AUTO_TEST_CASE(what_is_told_and_never_stands_in_the_log_is_looked_for_three_times_and_then_lost) {
    Midway log;
    log.after_event("ghost", std::nullopt, 4);
    int readings = 1;
    std::string last;
    for (std::string next = "read back"; !next.empty();) {
        log.after_page({event_at("c", 3)});
        last = log.after_page({event_at("c", 3), event_at("b", 2), event_at("a", 1)});
        next = log.after(TimerFired{Timer::again});
        if (!next.empty()) ++readings;
    }
    BOOST_TEST(readings == 3);
    BOOST_TEST(last == "gap 1/0/1");
    BOOST_TEST(log.produced.size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_no_more_ends_the_plan) {
    Midway log;
    log.after_event("d", std::nullopt, 4);
    BOOST_TEST(log.after(NotFound{}) == "ended");
    BOOST_TEST(log.after_page({event_at("c", 3), event_at("d", 4)}) == "");
}
