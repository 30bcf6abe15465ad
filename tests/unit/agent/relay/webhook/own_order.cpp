#define BOOST_TEST_MODULE own_order
#include "agent/relay/webhook/own_order.h"

#include <string>

#include <boost/test/unit_test.hpp>

using namespace epilogue::relay;

namespace {

std::vector<std::size_t> order_of(const std::vector<std::string>& times) {
    std::vector<std::string> events;
    for (const auto& time : times)
        events.push_back(time.empty() ? R"({"id":"a"})" : R"({"id":"a","timestamp":")" + time + R"("})");
    return own_order({events.begin(), events.end()});
}

using Order = std::vector<std::size_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_appended_to_newer_events_stands_before_them) {
    BOOST_TEST((order_of({"2026-11-23T10:00:03.5", "2026-11-23T10:00:04", "2026-11-23T10:00:01.000001",
                          "2026-11-23T10:00:02", "2026-11-23T10:00:02"}) == Order{2, 3, 4, 0, 1}));
    BOOST_TEST((order_of({"2026-11-23T10:00:01", "2026-11-23T10:00:02"}) == Order{0, 1}));
    BOOST_TEST((order_of({}) == Order{}));
}

BOOST_AUTO_TEST_CASE(without_a_time_and_where_the_clock_was_set_back_they_stay_as_they_came) {
    BOOST_TEST((order_of({"2026-11-23T10:00:03", "", "2026-11-23T10:00:01"}) == Order{0, 1, 2}));
    BOOST_TEST((order_of({"2026-10-25T02:59:59", "2026-10-25T02:00:01"}) == Order{0, 1}));
    BOOST_TEST((order_of({"2026-10-25T02:59:59", "2026-10-25T02:00:31"}) == Order{0, 1}));
    BOOST_TEST((order_of({"2026-10-25T02:59:59", "2026-10-25T02:30:30"}) == Order{0, 1}));
    BOOST_TEST((order_of({"2026-10-25T02:59:59", "2026-10-25T02:10:00"}) == Order{1, 0}));
}
