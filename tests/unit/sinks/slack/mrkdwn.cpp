#define BOOST_TEST_MODULE mrkdwn
#include "sinks/slack/mrkdwn.h"

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

BOOST_AUTO_TEST_CASE(markdown_reads_as_slack_writes) {
    const std::vector<std::pair<std::string, std::string>> table{
        {"", ""},
        {"plain", "plain"},
        {"**bold** and *it* and ~~no~~", "*bold* and _it_ and ~no~"},
        {"a & b < c > d", "a &amp; b &lt; c &gt; d"},
        {"# Title\n\ntext", "*Title*\n\ntext"},
        {"one\ntwo  \nthree", "one\ntwo\nthree"},
        {"`a < b`", "`a &lt; b`"},
        {"``a ` b``", "`a ' b`"},
        {"```cpp\nif (a < b)\n```", "```\nif (a &lt; b)\n```"},
        {"````\n```\n````", "```\n'''\n```"},
        {"- a\n- b\n  - c", "• a\n• b\n    • c"},
        {"3. a\n4. b", "3. a\n4. b"},
        {"- a\n\n- b", "• a\n\n• b"},
        {"- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"},
        {"> quoted\n> text", "> quoted\n> text"},
        {"[docs](https://x.example/a?b&c)", "<https://x.example/a?b&amp;c|docs>"},
        {"[a|b](https://x.example)", "<https://x.example|a¦b>"},
        {"https://x.example/1", "<https://x.example/1|https://x.example/1>"},
        {"[mail](mailto:a)", "mail"},
        {"![alt](https://x.example/i.png)", "alt"},
        {"| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"},
        {"a\n\n---\n\nb", "a\n\n———\n\nb"},
        {"<!channel>", "&lt;!channel&gt;"},
        {"<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
    };
    for (const auto& [markdown, expected] : table) BOOST_TEST(mrkdwn(markdown) == expected);
}

BOOST_AUTO_TEST_CASE(however_deep_it_is_nested_it_is_read) {
    for (const std::string mark : {">", "- ", "*a "}) {
        std::string text;
        while (text.size() < 12000) text += mark;
        const auto written = mrkdwn(text + "the end");
        BOOST_TEST(written.find("the end") != std::string::npos);
        BOOST_TEST(written.size() < 200000U);
    }
}
