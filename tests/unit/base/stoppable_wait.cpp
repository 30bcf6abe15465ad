#define BOOST_TEST_MODULE stoppable_wait
#include "base/stoppable_wait.h"

#include <thread>

#include <boost/test/unit_test.hpp>

namespace epilogue {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_time_or_with_the_stop) {
    std::stop_source stop;
    BOOST_TEST(wait_or_stop(stop.get_token(), 1ms));
    std::jthread stopper([&] { stop.request_stop(); });
    BOOST_TEST(!wait_or_stop(stop.get_token(), 10min));
    BOOST_TEST(!wait_or_stop(stop.get_token(), 10min));
    wait_for_stop(stop.get_token());
}

}  // namespace epilogue
