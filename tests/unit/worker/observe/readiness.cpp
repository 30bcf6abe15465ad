// What /readyz and the log say while something is missing.
#define BOOST_TEST_MODULE readiness
#include "worker/observe/readiness.h"

#include <boost/test/unit_test.hpp>

#include "log_lines.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

struct Clocked {
    std::chrono::steady_clock::time_point now{1h};
    Readiness readiness{[this] { return now; }};

    /// How many lines it writes to the log.
    std::size_t lines(const std::function<void()>& happens) const {
        return testing::lines_of(happens).size();
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_missing_is_named_and_told_until_it_is_mended) {
    Clocked it;
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", "no broker answers"); }) == 1U);
    BOOST_TEST(it.readiness.missing() == "kafka: no broker answers\n");
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", "no broker answers"); }) == 0U);
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", ""); }) == 1U);
    BOOST_TEST(it.readiness.missing() == "");
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", ""); }) == 0U);
}

BOOST_AUTO_TEST_CASE(a_start_that_goes_well_leaves_no_word_in_the_log) {
    Clocked it;
    const auto start = [&] {
        it.readiness.await("kafka", "no broker has answered yet");
        it.now += 4s;
        it.readiness.set("kafka", "no broker answers");
    };
    BOOST_TEST(it.lines(start) == 0U);
    BOOST_TEST(it.readiness.missing() == "kafka: no broker answers\n");
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", ""); }) == 0U);
}

BOOST_AUTO_TEST_CASE(a_start_that_takes_too_long_is_told) {
    Clocked it;
    it.readiness.await("kafka", "no broker has answered yet");
    it.now += 5s;
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", "no broker answers"); }) == 1U);
    BOOST_TEST(it.lines([&] { it.readiness.set("kafka", ""); }) == 1U);
}
