#define BOOST_TEST_MODULE agent_relay_lag
#include "agent/relay/lag.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue::relay;
using namespace std::chrono_literals;

namespace {

const Lag::Time start{};

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_the_age_of_the_oldest_event_that_waits) {
    Lag lag;
    BOOST_TEST(lag.at(start).count() == 0);
    lag.note(10, 10, start);
    BOOST_TEST(lag.at(start + 5s).count() == 0);
    lag.note(12, 10, start + 10s);
    lag.note(20, 10, start + 20s);
    BOOST_TEST(lag.at(start + 25s).count() == 15'000);
    lag.note(20, 12, start + 26s);
    BOOST_TEST(lag.at(start + 26s).count() == 6'000);
    lag.note(20, 20, start + 27s);
    BOOST_TEST(lag.at(start + 27s).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_steady_flow_that_is_never_quite_there_does_not_grow_it) {
    Lag lag;
    for (int i = 1; i <= 1000; ++i) lag.note(i + 1, i, start + i * 1s);
    BOOST_TEST(lag.at(start + 1000s).count() == 0);
    BOOST_TEST(lag.at(start + 1003s).count() == 3'000);
}

BOOST_AUTO_TEST_CASE(very_many_steps_are_remembered_as_few_and_never_as_younger_than_they_are) {
    Lag lag;
    for (int i = 1; i <= 1000; ++i) lag.note(i, 0, start + i * 1s);
    BOOST_TEST(lag.at(start + 1000s).count() == 999'000);
    lag.note(1000, 999, start + 1000s);
    BOOST_TEST(lag.at(start + 1000s).count() == 936'000);
}

BOOST_AUTO_TEST_CASE(a_shorter_log_and_another_one_take_back_what_was_known) {
    Lag lag;
    lag.note(20, 10, start);
    lag.note(10, 10, start + 1s);
    BOOST_TEST(lag.at(start + 2s).count() == 0);
    lag.note(20, 10, start + 3s);
    lag.note(5, 0, start + 4s);
    BOOST_TEST(lag.at(start + 6s).count() == 2'000);
}
