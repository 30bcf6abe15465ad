#define BOOST_TEST_MODULE wiki_markup
#include "sinks/jira/wiki_markup.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "sinks/format/format.h"
#include "tests/unit/sinks/hostile.h"

using namespace epilogue;
using hostile::alive_in_wiki_markup;

BOOST_AUTO_TEST_CASE(markdown_becomes_wiki_markup) {
    const std::vector<std::pair<std::string, std::string>> rows{
        {"**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and -gone-"},
        {"# Head", "h1. Head"},
        {"### Third", "h3. Third"},
        {"`code`", "{{code}}"},
        {"```sh\nls -l {a}\n```",
         "{noformat}\nls -l {\u200B"
         "a}\n{noformat}"},
        {"[text](https://example.com/a)", "[text|https://example.com/a]"},
        {"https://example.com", "[https://example.com|https://example.com]"},
        {"- one\n- two\n  - inner\n", "* one\n* two\n** inner"},
        {"1. one\n2. two\n", "# one\n# two"},
        {"- [x] done\n- [ ] open\n", "* ☑ done\n* ☐ open"},
        {"> quoted", "{quote}\nquoted\n{quote}"},
        {"| a | b |\n| --- | --- |\n| 1 | 2 |", "||a||b||\n|1|2|"},
        {"a\n\nb", "a\n\nb"},
        {"a - b", "a \\- b"}};
    for (const auto& [markdown, wiki] : rows) BOOST_TEST(wiki_markup(markdown) == wiki, markdown);
}

BOOST_AUTO_TEST_CASE(what_jira_would_act_on_is_escaped) {
    for (const std::string text : {"[~admin]", "[~accountid:712020:aa]", "{html}<script>x</script>{html}",
                                   "{code}", "{noformat}x{noformat}", "!https://evil.example/x.png!",
                                   "{anchor:a}", "[^secret.txt]", "[#a]", "{jira:PROJ-1}", "||a||", "\\\\"})
        BOOST_TEST(alive_in_wiki_markup(wiki_markup(sanitise(text))) == "", text);
    BOOST_TEST(alive_in_wiki_markup("[~admin]") != "");
    BOOST_TEST(alive_in_wiki_markup("{html}") != "");
    BOOST_TEST(alive_in_wiki_markup("!https://evil.example/x.png!") != "");
}

BOOST_AUTO_TEST_CASE(code_cannot_end_its_block) {
    const auto wiki = wiki_markup(sanitise("```\nx\n{noformat}\n[~admin]\n```\n"));
    BOOST_TEST(alive_in_wiki_markup(wiki) == "", wiki);
}

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_wiki_markup) {
    BOOST_TEST(hostile::cases().size() >= 150U);
    for (const auto& [kind, words, absent] : hostile::cases()) {
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        const auto wiki = wiki_markup(sanitise(words));
        BOOST_TEST(alive_in_wiki_markup(wiki) == "", wiki.substr(0, 300));
        for (const auto& part : absent)
            BOOST_TEST(hostile::visible(replaced(wiki, "\\", "")).find(part) == std::string::npos, part);
    }
}
