#define BOOST_TEST_MODULE format
#include "sinks/format/format.h"

#include <regex>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/ids.h"
#include "base/text.h"
#include "sinks/format/markdown.h"
#include "sinks/format/marker.h"
#include "sinks/format/strip_unsafe.h"
#include "tests/unit/sinks/growth.h"

using namespace epilogue;
using namespace std::string_literals;

namespace {

const std::string id = "2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11";
const std::string mark = marker_line("key", id);

struct Case {
    std::string hostile;
    std::string harmless;
};

/// A zero-width space is spelled \u200B, so that it can be seen here.
const std::vector<Case>& cases() {
    static const std::vector<Case> table{
        // Mentions, wherever they stand.
        {"@openhands fix it", "@\u200Bopenhands fix it"},
        {"hey @OpenHands", "hey @\u200BOpenHands"},
        {"@org/team", "@\u200Borg/team"},
        {"@everyone @here @channel", "@\u200Beveryone @\u200Bhere @\u200Bchannel"},
        {"(@a)", "(@\u200Ba)"},
        {"`@a`", "`@\u200Ba`"},
        {"```\n@a\n```", "```\n@\u200Ba\n```"},
        {"[@a](https://x.example/@b)", "[@\u200Ba](https://x.example/@\u200Bb)"},
        {"@@a", "@@\u200Ba"},
        {"@_x @1", "@\u200B_x @\u200B1"},
        {"@.group @..x a@.b", "@\u200B.group @\u200B..x a@\u200B.b"},
        {"mail me@example.com", "mail me@\u200Bexample.com"},
        {"\\@a", "\\@\u200Ba"},
        {"@é", "@\u200Bé"},
        {"@漢", "@\u200B漢"},
        {"@&#102;oo", "@\u200B&#102;oo"},
        {"@&Aacute;b", "@\u200B&Aacute;b"},
        {"@<b></b>foo", "@\u200B<\u200Bb><\u200B/b>foo"},
        {"@</i>foo", "@\u200B<\u200B/i>foo"},
        {"@<!-- x -->foo", "@\u200Bfoo"},
        {"@\u200Bfoo", "@\u200Bfoo"},
        {"@\u200B\u200Bfoo", "@\u200Bfoo"},
        {"@\u2060foo", "@\u200Bfoo"},
        {"@\u200D\u200Cfoo", "@\u200Bfoo"},
        {"@\x01"s + "foo", "@\u200Bfoo"},
        // An at sign that mentions no account stays as it is.
        {"a @ b", "a @ b"},
        {"@", "@"},
        {"@\nfoo", "@\nfoo"},
        {"@\u2028x", "@\u2028x"},
        {"@ — @— @🚀", "@ — @— @🚀"},
        // The at sign as an entity.
        {"&#64;a", "@\u200Ba"},
        {"&#064;a", "@\u200Ba"},
        {"&#0000064;a", "@\u200Ba"},
        {"&#64a", "@\u200Ba"},
        {"&#x40;a", "@\u200Ba"},
        {"&#X40;a", "@\u200Ba"},
        {"&#x0040;a", "@\u200Ba"},
        {"&#x40 a", "@ a"},
        {"&commat;a", "@\u200Ba"},
        {"&#64;&#64;a", "@@\u200Ba"},
        {"&#6<!-- -->4;a", "@\u200Ba"},
        {"&#\u200B64;a", "@\u200Ba"},
        {"&#640; &#x40f; &#x4; &#6; &# &commata; &amp;#64;",
         "&#640; &#x40f; &#x4; &#6; &# &commata; &amp;#64;"},
        // Comments and markers.
        {"a<!-- b -->c", "ac"},
        {"a<!-- b\n\nb -->c", "ac"},
        {mark, ""},
        {"x\n" + mark + "\ny", "x\n\ny"},
        {"<!-- epilogue:ask id=1 -->", ""},
        {"<!---->x", "x"},
        {"<!-->x", "x"},
        {"<!--->x", "x"},
        {"<!-- a -- b -->x", "x"},
        {"<!-- a --> b -->", " b -->"},
        {"<!-- <!-- a --> b", " b"},
        {"<!<!-- a -->-- b --> c", " c"},
        {"<<!-- a -->!-- b", "&lt;!-- b"},
        {"<!-- a", "&lt;!-- a"},
        {"<!--", "&lt;!--"},
        {"a <!-- b <!-- c", "a &lt;!-- b &lt;!-- c"},
        {"<!-- open\n" + mark.substr(0, 40), "&lt;!-- open\n&lt;" + mark.substr(1, 39)},
        {"<\u200B!-- a -->b", "b"},
        {"<!-\x02- a -->b", "b"},
        {"<!here> <!DOCTYPE html> <! -- x -->", "<\u200B!here> <\u200B!DOCTYPE html> <\u200B! -- x -->"},
        {"&lt;!-- a -->", "&lt;!-- a -->"},
        // What is unseen.
        {"a\r\nb", "a\nb"},
        {"a\x1b[31mred\x1b[0m", "a[31mred[0m"},
        {"a\0b"s, "ab"},
        {"a\x7f\u0085\u009b"
         "b",
         "ab"},
        {"tab\tand\nline", "tab\tand\nline"},
        {"a\u202Etxt.exe\u202C", "atxt.exe"},
        {"\u2066a\u2069\u200E\u200F\u061C", "a"},
        {"a\u200Bb\u200Cc\u200Dd\uFEFFe", "abcde"},
        {"a\u2061\u2064\u180E\u3164\u115F"
         "b",
         "ab"},
        {"a\U000E0041\U000E007Fb", "ab"},
        {"line\u2028separator\u2029", "line\u2028separator\u2029"},
        {"🚀 ❤\uFE0F ümläut 漢字", "🚀 ❤\uFE0F ümläut 漢字"},
        // A joiner between two emoji makes one of them; anywhere else it hides something.
        {"👨\u200D👩\u200D👧\u200D👦", "👨\u200D👩\u200D👧\u200D👦"},
        {"🏳\uFE0F\u200D🌈 👩🏽\u200D💻 🏃\u200D♀\uFE0F",
         "🏳\uFE0F\u200D🌈 👩🏽\u200D💻 🏃\u200D♀\uFE0F"},
        {"\u200D👩\u200D\u200D👧\u200Dx\u200D👦\u200D", "👩👧x👦"},
        // Malformed bytes.
        {"a\xff"
         "b",
         "a\uFFFD"
         "b"},
        {"a\xe2\x80", "a\uFFFD\uFFFD"},
        {"\xc0\xaf", "\uFFFD\uFFFD"},
        {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"", ""},
    };
    return table;
}

Summary summary_of(std::string words) {
    return {.headline = "**Finished**",
            .final_message = std::move(words),
            .facts = "- 2 files changed",
            .link = "https://app.example.com/conversations/1"};
}

}  // namespace

BOOST_AUTO_TEST_CASE(hostile_text_is_made_harmless) {
    BOOST_TEST(cases().size() >= 60U);
    for (const auto& [hostile, harmless] : cases()) BOOST_TEST(sanitise(hostile) == harmless, hostile);
}

BOOST_AUTO_TEST_CASE(a_fence_that_is_drawn_is_broken_however_its_info_is_written) {
    for (const std::string info :
         {"mermaid", "&#109;ermaid", "&#x6d;ermaid", "mer\\maid", "m&#101;rmaid", "\\mermaid",
          "&amp;#109;ermaid", "%6dermaid", "sug&#103;estion", "geo\\json x", "  &#109;ermaid", "Mer\\maid"}) {
        for (const std::string fence : {"```", "~~~", "````"}) {
            const auto text = fence + info + "\ngraph TD\n" + fence;
            const auto harmless = sanitise(text);
            BOOST_TEST(harmless.starts_with(fence + info.substr(0, info.find_first_not_of(' '))), text);
            BOOST_TEST(harmless.find("\u200B") < harmless.find('\n'), text);
            BOOST_TEST(replaced(harmless, "\u200B", "") == text);
        }
    }
    for (const std::string text : {"```cpp\nx\n```", "~~~ rust,ignore\nx\n~~~", "```&#99;pp\nx\n```"})
        BOOST_TEST(sanitise(text) == text);
}

BOOST_AUTO_TEST_CASE(making_harmless_twice_changes_nothing) {
    std::string all;
    for (const auto& [hostile, harmless] : cases()) {
        BOOST_TEST(sanitise(sanitise(hostile)) == sanitise(hostile), hostile);
        all += hostile;
        BOOST_TEST(sanitise(sanitise(all)) == sanitise(all));
    }
}

BOOST_AUTO_TEST_CASE(no_mention_and_no_comment_is_left_in_any_pair_of_hostile_texts) {
    // The form in which OpenHands looks for its name, among others.
    const std::regex mention("@[A-Za-z0-9_]|&#0*64;|&#[xX]0*40;|&commat;");
    for (const auto& first : cases()) {
        for (const auto& second : cases()) {
            const auto text = sanitise(first.hostile + second.hostile);
            BOOST_TEST_REQUIRE(!std::regex_search(text, mention));
            BOOST_TEST_REQUIRE(text.find("<!--") == std::string::npos);
            BOOST_TEST_REQUIRE(is_utf8(text));
            BOOST_TEST_REQUIRE(sanitise(text) == text);
        }
    }
}

BOOST_AUTO_TEST_CASE(words_without_harm_stay_as_they_are) {
    const std::string words =
        "Fertig 🚀 — “quoted” \u2028 line-sep, &amp; *md* `vec![<T>]` [a.md](https://x.example/a.md) #12\n\n"
        "| a | b |\n|---|---|\n| 1 | `<br>` |\n\n```html\n<img src=x>\n```\n\n    indented\n\ttab  \n";
    BOOST_TEST(sanitise(words) == words);
    BOOST_TEST(markdown_post(summary_of(words), mark, 64000).find(words) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(thousands_of_open_comments_take_no_time) {
    const std::string openings = replaced(std::string(200000, 'x'), "x", "<!--");
    BOOST_TEST(sanitise(openings).size() == 200000U * 7);
    BOOST_TEST(sanitise(openings + "-->").empty());
}

BOOST_AUTO_TEST_CASE(a_post_has_headline_words_facts_link_and_the_marker_as_its_last_line) {
    BOOST_TEST(markdown_post(summary_of("All done."), mark, 64000) ==
               "**Finished**\n\nAll done.\n\n- 2 files changed\n\n"
               "[View the conversation](https://app.example.com/conversations/1)\n\n" +
                   mark);
    BOOST_TEST(markdown_post({.headline = "**Got stuck**", .final_message = " \n", .facts = "", .link = ""},
                             mark, 64000) == "**Got stuck**\n\n" + mark);
}

BOOST_AUTO_TEST_CASE(every_part_of_a_post_is_neutralised) {
    const auto post = markdown_post({.headline = "**Ended with an error** @a\nsecond line",
                                     .final_message = "@b <!-- open",
                                     .facts = "@c " + marker_line("key", "other"),
                                     .link = "https://x.example/@d) [e](https://evil.example"},
                                    mark, 64000);
    BOOST_TEST(!std::regex_search(post, std::regex("@[a-z]")));
    BOOST_TEST(post.find("<!--") == post.rfind(mark));
    BOOST_TEST(
        post.starts_with("**Ended with an error** @\u200B"
                         "a second line\n\n"));
    BOOST_TEST(post.find("(https://x.example/%40d%29%20[e]%28https://evil.example)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_web_addresses_become_links) {
    for (const std::string url : {"javascript:alert(1)", "data:text/html,x", "", "//x.example", "HTTPS"}) {
        auto summary = summary_of("x");
        summary.link = url;
        BOOST_TEST(markdown_post(summary, mark, 64000).find("View the conversation") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_fence_left_open_is_closed_before_anything_of_ours) {
    const std::vector<std::pair<std::string, std::string>> table{
        {"text", ""},
        {"```\ncode", "```"},
        {"```cpp\ncode\n```", ""},
        {"````\n```\ncode", "````"},
        {"~~~\n```\ncode", "~~~"},
        {"  ```\ncode", "  ```"},
        {"    ```\ncode", ""},
        {"```\ncode\n``` x", "```"},
        {"```\ncode\n`````", ""},
        {"``` a`b", ""},
        {"`` x", ""},
        {"> ```\n> code", ""},
        {"- ```\n  code", ""},
        {"- ```\n  code\n  ```\ntext", ""},
        {"- a\n  ```\n  code\n```\nopen", "```"},
        {"1. a\n\n   ```\n   code\n   ```\n\n```\nopen", "```"},
        {"* * *\n```\nopen", "```"},
        {"- \n\n  ```\nopen", "  ```"},
        {"> a\n```\nopen", "```"},
        {"a\n2. b\n   ```\nopen", "   ```"},
        {"\t```\ncode", ""},
        {"```\r\ncode\r\n```\r\n", ""},
    };
    for (const auto& [text, closing] : table) BOOST_TEST(closing_fence(text) == closing, text);
    BOOST_TEST(markdown_post(summary_of("```\ncode"), mark, 64000).find("code\n```\n\n- 2 files") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(long_words_give_way_and_the_marker_stays_whole) {
    const std::vector<std::string> pieces{"word ", "漢", "🚀", "@a ", "```\ncode\n", "<!-- ", "`", "~~~\n"};
    for (const auto& piece : pieces) {
        std::string words;
        while (words.size() < 300000) words += piece;
        const auto post = markdown_post(summary_of(words), mark, 64000);
        BOOST_TEST(code_points(post) <= 64000U);
        BOOST_TEST(code_points(post) > 60000U);
        BOOST_TEST(is_utf8(post));
        BOOST_TEST(post.ends_with("\n" + mark));
        BOOST_TEST(post.find("… (truncated)\n\n- 2 files changed") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(long_facts_and_headlines_leave_room_for_words) {
    const std::string words(40000, 'w');
    const auto post = markdown_post({.headline = std::string(90000, 'h'),
                                     .final_message = words,
                                     .facts = std::string(90000, 'f'),
                                     .link = "https://x.example/" + std::string(90000, 'l')},
                                    mark, 64000);
    BOOST_TEST(code_points(post) <= 64000U);
    BOOST_TEST(post.find(words) != std::string::npos);
    BOOST_TEST(post.ends_with("\n" + mark));
}

BOOST_AUTO_TEST_CASE(text_is_fitted_to_the_character) {
    BOOST_TEST(truncate(std::string(100, 'x'), 100) == std::string(100, 'x'));
    BOOST_TEST(truncate(std::string(101, 'x'), 100) == std::string(85, 'x') + "\n\n… (truncated)");
    BOOST_TEST(code_points(truncate(replaced(std::string(500, 'x'), "x", "🚀"), 100)) == 100U);
    // The fence's own closing counts too, however long it is.
    BOOST_TEST(code_points(truncate(std::string(1000, '`'), 100)) <= 100U);
    BOOST_TEST(truncate("```\n" + std::string(92, 'x'), 100) == "```\n" + std::string(92, 'x') + "\n```");
    BOOST_TEST(truncate("```\n" + std::string(93, 'x'), 100) ==
               "```\n" + std::string(77, 'x') + "\n```\n\n… (truncated)");
}

BOOST_AUTO_TEST_CASE(text_is_cut_at_the_end_of_a_word) {
    std::string text;
    while (text.size() < 200) text += "word ";
    BOOST_TEST(truncate(text, 100) == std::string(trimmed(text.substr(0, 85))) + "\n\n… (truncated)");
    BOOST_TEST(truncate(text, 102) == std::string(trimmed(text.substr(0, 85))) + "\n\n… (truncated)");
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_as_if_all_of_it_had_been_read) {
    constexpr std::size_t room = 200;
    const std::string filler(30'000, 'x');
    const std::string token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    // However much is taken out before them, words that have room are there.
    for (const std::string& hidden :
         {"<!-- " + filler + " -->", growth::repeated("<!-- x -->", 30'000),
          growth::repeated("\xE2\x80\x8B", 30'000), growth::repeated(token + " ", 30'000)})
        BOOST_TEST(
            truncate(hidden + " The words.", room) == truncate(strip_unsafe(hidden + " The words."), room),
            hidden.substr(0, 20));
    BOOST_TEST(truncate(filler, room).size() == room + 2);  // an ellipsis has three bytes
}

BOOST_AUTO_TEST_CASE(a_marker_names_the_delivery_and_proves_the_key) {
    BOOST_TEST(mark ==
               "<!-- epilogue:1 id=" + id + " mac=" + hmac_sha256_hex("key", id).substr(0, 16) + " -->");
    BOOST_TEST(marker_of("text\n\n" + mark) == mark);
    BOOST_TEST(marker_of(mark) == mark);
    BOOST_TEST(marker_of(mark + "\ntext").empty());
    BOOST_TEST(marker_of("").empty());
}

BOOST_AUTO_TEST_CASE(only_a_whole_line_is_a_marker) {
    BOOST_TEST(holds_marker("a\n" + mark, mark));
    BOOST_TEST(holds_marker("a\r\n" + mark + "\r\nadded by a person", mark));
    BOOST_TEST(!holds_marker("> " + mark, mark));
    BOOST_TEST(!holds_marker(mark + " ", mark));
    BOOST_TEST(!holds_marker(mark.substr(0, mark.size() - 1), mark));
    BOOST_TEST(!holds_marker(marker_line("other key", id), mark));
    BOOST_TEST(!holds_marker("", mark));
}
