#define BOOST_TEST_MODULE backoff
#include "base/backoff.h"

#include <climits>
#include <limits>

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(the_ceiling_doubles_from_one_second_to_sixty) {
    const std::chrono::milliseconds ceilings[] = {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s};
    for (int attempt = 1; attempt <= 8; ++attempt)
        BOOST_TEST((full_jitter(attempt, 1.0) == ceilings[attempt - 1]), attempt);
}

BOOST_AUTO_TEST_CASE(the_draw_is_uniform_below_the_ceiling) {
    BOOST_TEST((full_jitter(3, 0.25) == 1s));
    BOOST_TEST((full_jitter(3, 0.5) == 2s));
    BOOST_TEST((full_jitter(40, 0.5) == 30s));
}

BOOST_AUTO_TEST_CASE(no_wait_is_shorter_than_the_shortest_or_longer_than_the_cap) {
    for (const int attempt : {1, 2, 10, 1000}) BOOST_TEST((full_jitter(attempt, 0.0) == shortest_backoff));
    BOOST_TEST((full_jitter(1, 0.0, 1ms, 10ms) == 10ms));
}

BOOST_AUTO_TEST_CASE(attempts_without_end_do_not_overflow) {
    for (const int attempt : {63, 64, 65, 1100, INT_MAX})
        BOOST_TEST((full_jitter(attempt, 1.0) == 60s), attempt);
}

BOOST_AUTO_TEST_CASE(attempts_and_draws_out_of_range_are_taken_as_the_nearest) {
    for (const int attempt : {0, -1, INT_MIN}) BOOST_TEST((full_jitter(attempt, 1.0) == 1s), attempt);
    BOOST_TEST((full_jitter(1, 7.0) == 1s));
    BOOST_TEST((full_jitter(1, -7.0) == shortest_backoff));
    BOOST_TEST((full_jitter(1, std::numeric_limits<double>::quiet_NaN()) == 1s));
}
