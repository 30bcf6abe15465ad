#define BOOST_TEST_MODULE secret_forms
#include "tests/support/secret_forms.h"

#include <string>

#include <boost/test/unit_test.hpp>

#include "base/decoded_text.h"
#include "base/redacted.h"

using namespace epilogue;
using namespace epilogue::testing;

BOOST_AUTO_TEST_CASE(every_form_of_a_secret_is_taken_out) {
    const auto forms = secret_forms();
    BOOST_TEST(forms.size() >= 114U);
    for (const auto& [text, secret] : forms) {
        BOOST_TEST_INFO_SCOPE(text);
        const auto left = redacted(text);
        BOOST_TEST(left.find(secret) == std::string::npos, left);
        const auto seen = decoded_text(left).text;
        BOOST_TEST(seen.find(decoded_text(secret).text) == std::string::npos, left);
        BOOST_TEST(redacted(left) == left);
        // The same in a sentence, and among lines.
        BOOST_TEST(redacted("I ran this: " + text + " and it worked.\n").find(secret) == std::string::npos);
        BOOST_TEST(redacted("Done.\n\n```\n" + text + "\n```\n").find(secret) == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(no_part_of_an_ordinary_summary_is_taken_for_a_secret) {
    const auto lines = lines_in("ordinary_words.txt");
    BOOST_TEST(lines.size() >= 100U);
    for (const auto& line : lines) {
        const auto text = filled_form(line);
        BOOST_TEST(redacted(text) == text);
    }
}
