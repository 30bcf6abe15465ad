#define BOOST_TEST_MODULE wiki_markup
#include "sinks/jira/wiki_markup.h"

#include <regex>

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "sinks/format/format.h"
#include "tests/unit/sinks/hostile.h"

using namespace epilogue;

namespace {

/// What in wiki markup Jira would act on, apart from what our own writer makes: code that is shown as it is,
/// links to web addresses, marks of lists, tables and emphasis. "" when nothing is.
std::string alive(std::string text) {
    static const std::regex shown("\\{noformat\\}\n([^{]|\\{\u200B)*\n?\\{noformat\\}");
    static const std::regex inert("\\\\[\\\\{}\\[\\]!|*_+^~?#-]");
    static const std::regex link("\\[([^\\[\\]|]*\\|)?https?://[^\\[\\]|{}!\\\\ ]*\\]");
    text = std::regex_replace(text, shown, "");
    text = std::regex_replace(text, inert, ".");
    text = std::regex_replace(text, link, "");
    text = replaced(replaced(replaced(text, "{{", ""), "}}", ""), "{quote}", "");
    for (const char* part : {"{", "}", "[", "]", "!"})
        if (const auto at = text.find(part); at != std::string::npos)
            return std::string(part) + " in: " + text.substr(at > 20 ? at - 20 : 0, 60);
    static const std::regex mention("@[A-Za-z0-9_]");
    std::smatch found;
    return std::regex_search(text, found, mention) ? "mention: " + found.str() : "";
}

}  // namespace

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
        BOOST_TEST(alive(wiki_markup(sanitise(text))) == "", text);
    BOOST_TEST(alive("[~admin]") != "");
    BOOST_TEST(alive("{html}") != "");
    BOOST_TEST(alive("!https://evil.example/x.png!") != "");
}

BOOST_AUTO_TEST_CASE(code_cannot_end_its_block) {
    const auto wiki = wiki_markup(sanitise("```\nx\n{noformat}\n[~admin]\n```\n"));
    BOOST_TEST(alive(wiki) == "", wiki);
}

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_wiki_markup) {
    BOOST_TEST(hostile::cases().size() >= 150U);
    for (const auto& [kind, words, absent] : hostile::cases()) {
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        const auto wiki = wiki_markup(sanitise(words));
        BOOST_TEST(alive(wiki) == "", wiki.substr(0, 300));
        for (const auto& part : absent)
            BOOST_TEST(hostile::visible(replaced(wiki, "\\", "")).find(part) == std::string::npos, part);
    }
}
