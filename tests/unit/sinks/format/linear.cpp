// Time to make posts of texts that an attacker would make long.
#define BOOST_TEST_MODULE linear
#include <algorithm>
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

BOOST_AUTO_TEST_CASE(a_megabyte_becomes_a_post_in_a_tenth_of_a_second) {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    constexpr std::size_t megabyte = 1'000'000;
    constexpr std::size_t room = 60'000;  // the most that a platform takes
    constexpr int tries = 5;
    const std::string ordinary =
        growth::repeated("The tests pass now; see src/main.cpp for what changed.\n", megabyte);
    sanitise(ordinary);  // the rules for secrets are read once
    for (const std::string piece : {"The tests pass now.\n", "sk-", "<b>\n", "![[]()", "![[](", "<a ",
                                    "[a](b) ", "**b** ", "``` a\n```\n", "token="}) {
        Summary summary;
        summary.final_message = growth::repeated(piece, megabyte);
        bool is_fast = false;
        for (int i = 0; i < tries && !is_fast; ++i) {
            // A slow or busy machine has as long as it takes to look through an ordinary megabyte once.
            const double limit = std::max(0.1, growth::seconds([&] { sanitise(ordinary); }));
            is_fast = growth::seconds([&] { markdown_post(summary, "", room); }) < limit;
        }
        BOOST_TEST(is_fast, piece);
    }
#endif
}
