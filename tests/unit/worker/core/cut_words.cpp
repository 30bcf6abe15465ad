// The line below words that did not fit.
#define BOOST_TEST_MODULE cut_words
#include "worker/core/cut_words.h"

#include <boost/test/unit_test.hpp>

#include "base/redacted.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(what_was_cut_is_said_in_the_language_of_our_own_words) {
    std::string long_text;
    for (int i = 0; i < 100; ++i) long_text += "words ";
    const std::string cut = redacted_words(long_text, 200);
    BOOST_TEST(cut.ends_with(" more characters)"));
    BOOST_TEST(are_cut_words(cut));
    BOOST_TEST(cut_words_in(Language::english, cut) == cut);
    const std::string german = cut_words_in(Language::german, cut);
    BOOST_TEST(german.ends_with(" weitere Zeichen)"));
    BOOST_TEST(german.starts_with("words words"));
    BOOST_TEST(german.find("more") == std::string::npos);
    BOOST_TEST(are_cut_words(german));
    BOOST_TEST(cut_words_in(Language::german, german) == german);
    BOOST_TEST(cut_words_in(Language::german, "a\n\n… (1 more character)") == "a\n\n… (1 weiteres Zeichen)");
}

BOOST_AUTO_TEST_CASE(words_that_fit_stay_as_they_are) {
    for (const char* words : {"Done.", "", "\n\n", "a\n\n… (many more characters)",
                              "a\n\n… ( more characters)", "… (12 more characters)\n\nthe end"}) {
        BOOST_TEST(!are_cut_words(words), words);
        BOOST_TEST(cut_words_in(Language::german, words) == words);
    }
}
