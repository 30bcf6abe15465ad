// The name of a process's place.
#define BOOST_TEST_MODULE process_place
#include "base/process/place.h"

#include <boost/test/unit_test.hpp>

using epilogue::process::place_of_listener;

BOOST_AUTO_TEST_CASE(the_next_process_at_a_port_has_the_name_of_the_one_before_and_no_other_has) {
    const std::string place = place_of_listener(9465);
    BOOST_TEST(!place.empty());
    BOOST_TEST(place.size() <= 64U);
    BOOST_TEST(place_of_listener(9465) == place);
    BOOST_TEST(place_of_listener(9466) != place);
}
