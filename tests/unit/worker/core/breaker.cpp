#define BOOST_TEST_MODULE breaker
#include "worker/core/breaker.h"

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{std::chrono::hours{24 * 20000}};

/// Failures in a row, one a second, at these places in turn.
Breaker after_failures(int count, const std::vector<std::string>& places, Micros apart = 1s) {
    Breaker breaker;
    for (int i = 0; i < count; ++i) {
        const Instant now = start + i * apart;
        breaker.record_failure(places[static_cast<std::size_t>(i) % places.size()], now, now, 0.5);
    }
    return breaker;
}

Breaker open_one() {
    Breaker breaker = after_failures(5, {"a", "b"});
    BOOST_REQUIRE(breaker.is_open());
    return breaker;
}

}  // namespace

BOOST_AUTO_TEST_CASE(five_failures_in_a_row_at_more_than_one_place_open_it) {
    BOOST_TEST(!after_failures(4, {"a", "b"}).is_open());
    BOOST_TEST(after_failures(5, {"a", "b"}).is_open());
    BOOST_TEST(after_failures(5, {"a", "a", "a", "a", "b"}).is_open());
}

BOOST_AUTO_TEST_CASE(lost_answers_at_one_place_alone_do_not_open_it) {
    BOOST_TEST(!after_failures(1, {"a"}).is_open());
    BOOST_TEST(!after_failures(50, {"a"}).is_open());
}

BOOST_AUTO_TEST_CASE(one_place_opens_it_when_nothing_else_was_answered_for_a_minute) {
    BOOST_TEST(!after_failures(60, {"a"}).is_open());
    BOOST_TEST(after_failures(61, {"a"}).is_open());
    BOOST_TEST(!after_failures(2, {"a"}, 10min).is_open());
}

BOOST_AUTO_TEST_CASE(an_answer_begins_the_count_anew) {
    Breaker breaker = after_failures(4, {"a", "b"});
    breaker.record_answer(start + 4s, start + 4s);
    BOOST_TEST((breaker == Breaker()));
    for (int i = 5; i < 9; ++i) breaker.record_failure("c", start + i * 1s, start + i * 1s, 0.5);
    BOOST_TEST(!breaker.is_open());
}

BOOST_AUTO_TEST_CASE(an_answer_to_a_call_from_before_the_first_failure_tells_nothing_new) {
    Breaker breaker = open_one();
    breaker.record_answer(start - 1s, start + 5s);
    BOOST_TEST(breaker.is_open());
    breaker.record_answer(start + 1s, start + 5s);
    BOOST_TEST(!breaker.is_open());
}

BOOST_AUTO_TEST_CASE(while_it_is_closed_every_call_goes) {
    for (const Breaker& breaker : {Breaker(), after_failures(4, {"a", "b"})})
        BOOST_TEST((breaker.passage(start, false) == Passage::pass));
}

BOOST_AUTO_TEST_CASE(while_it_is_open_one_call_goes_when_a_probe_is_due_and_all_others_wait) {
    Breaker breaker = open_one();
    BOOST_TEST((breaker.passage(start + 4s, true) == Passage::wait));
    const Instant due = breaker.probe_at.value();
    BOOST_TEST((due <= start + 9s));
    BOOST_TEST((breaker.passage(due, true) == Passage::probe));
    breaker.begin_probe(due);
    BOOST_TEST((breaker.passage(due, true) == Passage::wait));
    BOOST_TEST((breaker.passage(due + 1s, false) == Passage::wait));
}

BOOST_AUTO_TEST_CASE(a_post_that_has_waited_for_nothing_leaves_the_probe_for_a_second_to_what_waits) {
    const Breaker breaker = open_one();
    const Instant due = breaker.probe_at.value();
    BOOST_TEST((breaker.passage(due, false) == Passage::wait));
    BOOST_TEST((breaker.passage(due + 1s, false) == Passage::probe));
}

BOOST_AUTO_TEST_CASE(a_probe_of_a_worker_that_was_killed_is_followed_by_another_within_five_seconds) {
    Breaker breaker = open_one();
    breaker.begin_probe(start + 10s);
    BOOST_TEST((breaker.passage(start + 15s, true) == Passage::probe));
}

BOOST_AUTO_TEST_CASE(however_probes_fail_another_one_begins_within_five_seconds_and_not_at_once) {
    BOOST_TEST(rc::check("probes", [] {
        Breaker breaker = open_one();
        Instant now = breaker.probe_at.value();
        for (int i = 0; i < 20; ++i) {
            const Instant begun = now;
            breaker.begin_probe(begun);
            const auto took = Micros(*rc::gen::inRange<std::int64_t>(0, 20'000'000));
            const double random01 = *rc::gen::inRange(0, 101) / 100.0;
            // One that hangs ends when others have begun.
            if (took < 5s) breaker.record_failure("a", begun, begun + took, random01);
            RC_ASSERT(breaker.probe_at.value() - begun <= 5s);
            RC_ASSERT(breaker.probe_at.value() - begun >= 2500ms);
            now = breaker.probe_at.value();
        }
    }));
}

BOOST_AUTO_TEST_CASE(a_probe_that_is_answered_closes_it_at_once) {
    Breaker breaker = open_one();
    breaker.begin_probe(start + 10s);
    breaker.record_answer(start + 10s, start + 11s);
    BOOST_TEST((breaker.passage(start + 11s, false) == Passage::pass));
}

BOOST_AUTO_TEST_CASE(what_hung_while_it_was_open_and_ends_later_does_not_open_it_again) {
    Breaker breaker = open_one();
    breaker.begin_probe(start + 10s);
    breaker.record_answer(start + 10s, start + 11s);
    for (const char* place : {"a", "b", "c", "d", "e", "f"})
        breaker.record_failure(place, start + 10s, start + 30s, 0.5);
    BOOST_TEST(!breaker.is_open());
    for (const char* place : {"a", "b", "c", "d", "e"})
        breaker.record_failure(place, start + 12s, start + 31s, 0.5);
    BOOST_TEST(breaker.is_open());
}
