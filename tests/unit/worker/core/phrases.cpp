#define BOOST_TEST_MODULE phrases
#include "worker/core/phrases.h"

#include <algorithm>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

std::size_t gaps_in(std::string_view text) {
    std::size_t gaps = 0;
    for (std::size_t at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2)) ++gaps;
    return gaps;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_language_has_every_phrase) {
    for (const Language language : all_languages()) {
        const PhraseTable& table = phrases_of(language);
        BOOST_TEST(table.size() == phrase_count, name_of(language));
        for (std::size_t i = 0; i < phrase_count; ++i)
            BOOST_TEST(!phrase(language, static_cast<Phrase>(i)).empty(), name_of(language)
                                                                              << ", phrase " << i);
    }
}

BOOST_AUTO_TEST_CASE(every_language_puts_the_same_things_in) {
    for (const auto& [name, text] : english_phrases())
        for (const Language language : all_languages()) {
            const auto other = phrase(language, name);
            BOOST_TEST(gaps_in(other) == gaps_in(text), other);
            BOOST_TEST(std::ranges::count(other, '{') == static_cast<std::ptrdiff_t>(gaps_in(other)), other);
            BOOST_TEST(std::ranges::count(other, '\n') == 0, other);
        }
}

BOOST_AUTO_TEST_CASE(languages_are_named_as_the_configuration_spells_them) {
    BOOST_TEST(name_of(Language::english) == "en");
    BOOST_TEST(name_of(Language::german) == "de");
    BOOST_TEST(phrase(Language::english, Phrase::finished) == "Finished");
    BOOST_TEST(phrase(Language::german, Phrase::finished) == "Fertig");
}
