#define BOOST_TEST_MODULE mail_body
#include "sinks/email/mail_body.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "sinks/format/format.h"
#include "tests/unit/sinks/hostile.h"

using namespace epilogue;

namespace {

std::string html(std::string_view markdown) {
    const auto whole = mail_body(markdown).html;
    const std::string begin = "<body>\n";
    const auto from = whole.find(begin) + begin.size();
    return whole.substr(from, whole.find("</body>") - from);
}

std::string text(std::string_view markdown) {
    return mail_body(markdown).text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(both_forms_say_the_same) {
    const char* markdown =
        "**Finished**\n\n# Done\n\nSee [the page](https://a.example/x?y=1&z=2) and `code`.\n\n"
        "- one\n- two\n  1. deep\n\n> quoted\n> twice\n\n```sh\nmake <all>\n```\n\n| a | b |\n|---|---|\n| 1 "
        "| 2 |\n";
    BOOST_TEST(text(markdown) ==
               "Finished\n\nDone\n\nSee the page <https://a.example/x?y=1&z=2> and code.\n\n"
               "- one\n- two\n  1. deep\n\n> quoted\n> twice\n\n    make <all>\n\na | b\n1 | 2\n");
    BOOST_TEST(html(markdown) ==
               "<p><strong>Finished</strong></p>\n<h1>Done</h1>\n"
               "<p>See <a href=\"https://a.example/x?y=1&amp;z=2\">the page</a> and <code>code</code>.</p>\n"
               "<ul><li>one</li>\n<li>two<ol><li>deep</li>\n</ol>\n</li>\n</ul>\n"
               "<blockquote><p>quoted\ntwice</p>\n</blockquote>\n<pre>make &lt;all&gt;\n</pre>\n"
               "<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>\n");
    BOOST_TEST(text("- [x] done\n- [ ] open\n") == "- ☑ done\n- ☐ open\n");
    BOOST_TEST(html("~~gone~~\n\n---\n") == "<p><del>gone</del></p>\n<hr>\n");
    BOOST_TEST(text("https://a.example/x\n") == "https://a.example/x\n");
}

BOOST_AUTO_TEST_CASE(nothing_is_loaded_and_links_lead_to_the_web_alone) {
    BOOST_TEST(html("![seen](https://evil.example/pixel.png)") == "<p>seen</p>\n");
    for (const char* url : {"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example",
                            "cid:1", "JaVaScRiPt:x", "vbscript:x", "mailto:eve@evil.example"})
        BOOST_TEST(html("[here](" + std::string(url) + ")") == "<p>here</p>\n", url);
    BOOST_TEST(html("<img src=x onerror=alert(1)>\n").find('<' + std::string("img")) == std::string::npos);
    BOOST_TEST(html("a <b onclick=x>b</b>") == "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n");
    BOOST_TEST(html("[x](<https://a.example/\"onclick=x>)").find("onclick=x\"") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(text_nested_a_thousand_deep_is_flat) {
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += "> ";
    const auto body = mail_body(deep + "inside");
    BOOST_TEST(body.text.find("inside") != std::string::npos);
    BOOST_TEST(body.html.find("inside") != std::string::npos);
    BOOST_TEST(body.html.find("</body></html>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_either_form) {
    BOOST_TEST(hostile::cases().size() >= 200U);
    for (const auto& [kind, words, absent] : hostile::cases()) {
        const auto body = mail_body(markdown_post(
            {.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, "", 64000));
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        BOOST_TEST(hostile::alive_in_html(body.html) == "");
        BOOST_TEST(hostile::unseen_in(body.text) == "");
        for (const auto& part : absent) {
            BOOST_TEST(hostile::visible(body.text).find(part) == std::string::npos, part);
            BOOST_TEST(hostile::visible(body.html).find(part) == std::string::npos, part);
        }
    }
}
