#define BOOST_TEST_MODULE graphemes
#include "base/graphemes.h"

#include <string>

#include <boost/test/unit_test.hpp>

#include "base/text.h"

using namespace epilogue;

namespace {

std::string times(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_fits_stays_as_it_is) {
    for (const std::string text : {"", "one two", "one two  ", "\n"})
        BOOST_TEST(whole_words(text, text.size()) == text);
}

BOOST_AUTO_TEST_CASE(a_cut_stands_at_the_end_of_a_word_or_a_line) {
    BOOST_TEST(whole_words("one two three", 12) == "one two");
    BOOST_TEST(whole_words("one two three", 7) == "one two");
    BOOST_TEST(whole_words("one two three", 6) == "one");
    BOOST_TEST(whole_words("one\n\ntwo three", 6) == "one");
    BOOST_TEST(whole_words("one", 2) == "on");
    // A word without an end is cut inside.
    BOOST_TEST(whole_words("one " + std::string(1000, 'x'), 600) == "one " + std::string(596, 'x'));
}

BOOST_AUTO_TEST_CASE(a_cut_never_tears_what_is_drawn_as_one_character) {
    for (const std::string character : {"\u00e9", "e\u0301", "漢", "🚀", "👨‍👩‍👧‍👦",
                                        "🏳️‍🌈", "👩🏽‍💻", "🇩🇪", "❤️", "각", "นี้"}) {
        const std::string text = "x" + times(20, character);
        for (std::size_t bytes = 1; bytes < text.size(); ++bytes) {
            const auto cut = whole_words(text, bytes);
            BOOST_TEST(cut.size() <= bytes);
            BOOST_TEST(is_utf8(cut));
            BOOST_TEST(cut == "x" + times((cut.size() - 1) / character.size(), character), character);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_has_no_place_to_be_cut_is_cut_between_code_points) {
    const std::string marks = "a" + times(5000, "\u0301");
    const auto cut = whole_words(marks, 100);
    BOOST_TEST(cut.size() <= 100U);
    BOOST_TEST(is_utf8(cut));
    BOOST_TEST(whole_words(std::string(10, '\x80'), 5).size() <= 5U);
}

BOOST_AUTO_TEST_CASE(emoji_are_pictographs_and_letters_are_none) {
    for (const char32_t emoji : {U'🚀', U'👩', U'♀', U'❤'}) BOOST_TEST(is_pictograph(emoji));
    for (const char32_t other : {U'a', U'1', U'#', U'@', U'漢', U'\u200D', U'\uFE0F'})
        BOOST_TEST(!is_pictograph(other));
}
