#define BOOST_TEST_MODULE linear
#include <string>

#include <boost/test/unit_test.hpp>

#include "base/redacted.h"
#include "sinks/format/format.h"
#include "tests/unit/sinks/growth.h"

using namespace epilogue;
using growth::check_linear;
using growth::pieces;

BOOST_AUTO_TEST_CASE(secrets_are_looked_for_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 8000;
    redacted("token");  // the rules are read once
    for (const auto& piece : pieces())
        check_linear(piece, bytes, [](const std::string& text) { redacted(text); });
}

BOOST_AUTO_TEST_CASE(text_is_made_harmless_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 4000;
    for (const auto& piece : pieces())
        check_linear(piece, bytes, [](const std::string& text) { sanitise(text); });
}
