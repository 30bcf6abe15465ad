#define BOOST_TEST_MODULE redacted
#include "base/redacted.h"

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/text.h"

using namespace epilogue;

namespace {

const std::string body = "0123456789abcdefABCDEF0123456789abcdefABCDEF";

std::string letters(std::size_t count) {
    return body.substr(0, count);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_secret_is_replaced_by_what_it_was) {
    const std::vector<std::pair<std::string, std::string>> table{
        {"a ghp_" + letters(36) + ".", "a «GitHub token removed»."},
        {"(glpat-" + letters(20) + ")", "(«GitLab token removed»)"},
        {"xoxb-12-34-" + letters(24), "«Slack token removed»"},
        {"AKIA0123456789ABCDEF x", "«AWS key removed» x"},
        {"MY_API_KEY=\"" + letters(12) + "\"", "MY_API_KEY=\"«secret removed»\""},
        {"{\"session_api_key\": \"" + letters(12) + "\"}", "{\"session_api_key\": \"«secret removed»\"}"},
        {"Authorization: Bearer " + letters(20), "Authorization: Bearer «secret removed»"},
        {"curl -H 'bearer " + letters(20) + "'", "curl -H 'bearer «secret removed»'"},
        {"https://me:pass@host/x", "https://me:«password removed»@host/x"},
        {"eyJ" + letters(9) + ".eyJ" + letters(9) + "." + letters(9) + " x", "«web token removed» x"},
        {"-----BEGIN EC PRIVATE KEY-----\n" + body + "\n-----END EC PRIVATE KEY-----\nx",
         "«private key removed»\nx"},
        {"-----BEGIN PRIVATE KEY-----\n" + body, "«private key removed»"},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(redacted(text) == expected);
        BOOST_TEST(redacted(expected) == expected);
    }
}

BOOST_AUTO_TEST_CASE(a_secret_is_found_whatever_unseen_character_hides_it) {
    for (const std::string hidden :
         {"\x01", "\x7f", "\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b", "\u200d", "\u202e",
          "\u2066", "\u3164", "\ufeff", "\ufffa", "\U000e0041"}) {
        const auto found = redacted("used ghp_" + letters(18) + hidden + letters(18) + " for it");
        BOOST_TEST(found == "used «GitHub token removed» for it", to_hex(hidden));
    }
}

BOOST_AUTO_TEST_CASE(what_only_resembles_a_secret_stays) {
    for (const std::string text :
         {"ghp_short", "task-0123456789abcdef0123456789", "sk-cube-grid-loading-animation",
          "the password: required", "token = next_token()", "xoxb-", "AKIA", "eyJhbGciOiJIUzI1NiJ9",
          "-----BEGIN CERTIFICATE-----\nMIIE", "https://host:8080/a@b", "git@github.com:o/r.git",
          "password=hunter", "api_key = os.environ[\"API_KEY\"]",
          "commit 0123456789abcdef0123456789abcdef01234567", "basic 12345", "1.2.3", ""})
        BOOST_TEST(redacted(text) == text);
}

BOOST_AUTO_TEST_CASE(a_cut_leaves_no_half_of_a_secret) {
    const std::string text = "used ghp_" + letters(36) + " for it";
    for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
        const auto cut = redacted_prefix(text, bytes);
        BOOST_TEST(cut.size() <= bytes);
        BOOST_TEST(cut.find("ghp_") == std::string::npos, cut);
    }
    BOOST_TEST(redacted_prefix(text, 100) == "used «GitHub token removed» for it");
}

BOOST_AUTO_TEST_CASE(words_that_fit_stay_as_they_are) {
    const std::string words = std::string(99, 'x') + " ";
    BOOST_TEST(redacted_words(words, 100) == words);
}

BOOST_AUTO_TEST_CASE(words_that_do_not_fit_are_cut_at_the_end_of_a_word_and_say_how_much_is_missing) {
    std::string words = "It is done.\n";
    while (words.size() < 200) words += "übrig ";
    const auto cut = redacted_words(words, 150);
    BOOST_TEST(cut.size() <= 150U);
    const std::string kept = cut.substr(0, cut.find("\n\n"));
    BOOST_TEST(words.starts_with(kept + " "));
    BOOST_TEST(cut == kept + "\n\n… (" + std::to_string(code_points(words) - code_points(kept)) +
                          " more characters)");
    BOOST_TEST(redacted_words(cut, 150) == cut);
    // What lies far behind the bound is counted, too.
    BOOST_TEST(redacted_words(std::string(1'000'000, 'x'), 150) ==
               std::string(90, 'x') + "\n\n… (999910 more characters)");
}

BOOST_AUTO_TEST_CASE(no_half_of_a_secret_is_left_where_masks_made_the_text_shorter) {
    const std::string secret = "ghp_" + letters(36);
    const std::string long_one =
        "-----BEGIN PRIVATE KEY-----\n" + std::string(3000, 'A') + "\n-----END PRIVATE KEY-----\n";
    // What is read ends inside of the last secret.
    const std::string text = long_one + std::string(1125, '.') + " " + secret + " and more";
    for (std::size_t shift = 0; shift < 60; ++shift) {
        const std::string moved = std::string(shift, '.') + text;
        BOOST_TEST(redacted_prefix(moved, 100).find("ghp_") == std::string::npos);
        BOOST_TEST(redacted_words(moved, 100).find("ghp_") == std::string::npos);
    }
}
