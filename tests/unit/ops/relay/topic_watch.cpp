#define BOOST_TEST_MODULE topic_watch
#include "ops/relay/topic_watch.h"

#include <boost/test/unit_test.hpp>

using epilogue::event_limit;

BOOST_AUTO_TEST_CASE(the_lower_of_what_is_set_and_what_the_topic_takes_is_the_limit) {
    BOOST_TEST(event_limit(16'000'000, "20971520") == 16'000'000U);
    BOOST_TEST(event_limit(16'000'000, "1048588") == 1048588U - 8192U);
    BOOST_TEST(event_limit(300'000, "1048588") == 300'000U);
}

BOOST_AUTO_TEST_CASE(a_topic_that_does_not_tell_takes_what_is_set) {
    for (const char* told : {"", "much"}) BOOST_TEST(event_limit(16'000'000, told) == 16'000'000U, told);
}

BOOST_AUTO_TEST_CASE(no_event_is_trimmed_below_what_leaves_it_its_meaning) {
    for (const char* told : {"0", "-1", "100000"}) BOOST_TEST(event_limit(16'000'000, told) == 262144U, told);
}
