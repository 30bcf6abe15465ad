#define BOOST_TEST_MODULE hostile_text
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

#include "base/text.h"
#include "sinks/format/format.h"
#include "sinks/format/markdown.h"
#include "sinks/format/marker.h"
#include "sinks/format/strip_unsafe.h"
#include "tests/unit/sinks/hostile.h"

using namespace epilogue;

namespace {

const std::string mark = marker_line("key", "2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11");

/// Hostile fragments one after the other, now and then a piece of anything between them.
rc::Gen<std::string> hostile_texts() {
    const auto fragment =
        rc::gen::oneOf(rc::gen::elementOf(hostile::fragments()), rc::gen::elementOf(hostile::fragments()),
                       rc::gen::elementOf(hostile::fragments()), rc::gen::string<std::string>());
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(fragment), [](const auto& pieces) {
        std::string text;
        for (const auto& piece : pieces) text += piece;
        return text;
    });
}

/// Holds `property` for as many texts as RC_PARAMS says. CTest says a seed as well: what it finds today it
/// finds tomorrow. By hand: RC_PARAMS=max_success=100000 build/dev/bin/unit_hostile_text
template <class Property>
void for_hostile_texts(const std::string& sentence, const Property& property) {
    BOOST_TEST(rc::check(sentence, [&] { property(*hostile_texts()); }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_a_post) {
    BOOST_TEST(hostile::cases().size() >= 300U);
    for (const auto& [kind, words, absent] : hostile::cases()) {
        const Summary summary{.headline = "**Finished**",
                              .final_message = words,
                              .facts = words,
                              .link = "https://app.example.com/conversations/1"};
        for (const std::size_t room : {std::size_t{64000}, std::size_t{12000}}) {
            const auto post = markdown_post(summary, mark, room);
            BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
            BOOST_TEST(hostile::alive_in_markdown(post) == "");
            BOOST_TEST(code_points(post) <= room);
            BOOST_TEST(post.ends_with("\n" + mark));
            const auto visible = hostile::visible(post.substr(0, post.size() - mark.size()));
            for (const auto& part : absent) BOOST_TEST(visible.find(part) == std::string::npos, part);
        }
    }
}

BOOST_AUTO_TEST_CASE(any_two_hostile_summaries_in_a_row_are_not_alive_either) {
    const auto& cases = hostile::cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& other = cases[(i * 97 + 13) % cases.size()];
        const auto text = sanitise(cases[i].words + other.words);
        BOOST_TEST_INFO_SCOPE(cases[i].words.substr(0, 200) << " | " << other.words.substr(0, 200));
        BOOST_TEST(hostile::alive_in_markdown(text) == "");
        BOOST_TEST(sanitise(text) == text);
    }
}

BOOST_AUTO_TEST_CASE(nothing_alive_is_left_of_any_text) {
    for_hostile_texts("nothing is alive", [](const std::string& text) {
        const auto harmless = sanitise(text);
        RC_ASSERT(hostile::alive_in_markdown(harmless) == std::string());
    });
}

BOOST_AUTO_TEST_CASE(what_is_harmless_stays_as_it_is) {
    for_hostile_texts("f(f(x)) = f(x)", [](const std::string& text) {
        const auto harmless = sanitise(text);
        RC_ASSERT(sanitise(harmless) == harmless);
    });
}

BOOST_AUTO_TEST_CASE(apart_from_what_is_taken_out_every_text_stays_word_for_word) {
    for_hostile_texts("word for word", [](const std::string& text) {
        RC_ASSERT(hostile::visible(sanitise(text)) == strip_unsafe(text));
        RC_ASSERT(strip_unsafe(strip_unsafe(text)) == strip_unsafe(text));
    });
}

BOOST_AUTO_TEST_CASE(every_text_is_fitted_closed_and_still_harmless) {
    for_hostile_texts("truncated", [](const std::string& text) {
        const auto limit = *rc::gen::inRange<std::size_t>(100, 400);
        const auto cut = truncate(text + text + text, limit);
        RC_ASSERT(code_points(cut) <= limit);
        RC_ASSERT(closing_fence(cut) == std::string());
        RC_ASSERT(hostile::alive_in_markdown(cut) == std::string());
        RC_ASSERT(truncate(cut, limit) == cut);
    });
}

BOOST_AUTO_TEST_CASE(no_part_of_a_post_makes_another_alive) {
    for_hostile_texts("a post", [](const std::string& text) {
        const auto facts = *hostile_texts();
        const auto post = markdown_post({.headline = "**Finished**",
                                         .final_message = text,
                                         .facts = facts,
                                         .link = "https://x.example/1"},
                                        mark, 10000);
        RC_ASSERT(hostile::alive_in_markdown(post) == std::string());
        RC_ASSERT(code_points(post) <= 10000U);
        RC_ASSERT(post.ends_with("\n" + mark));
    });
}
