#include "tests/unit/sinks/hostile.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <regex>

#include <cmark-gfm.h>
#include <nlohmann/json.hpp>

#include "base/code_point.h"
#include "base/text.h"
#include "sinks/format/markdown_parser.h"

namespace epilogue::hostile {
namespace {

/// The post as a browser would get it, were nothing taken out of it on the way.
std::string rendered(const std::string& post) {
    cmark_parser* const parser = new_markdown_parser(CMARK_OPT_UNSAFE);
    cmark_parser_feed(parser, post.data(), post.size());
    cmark_node* const document = cmark_parser_finish(parser);
    char* const html =
        cmark_render_html_with_mem(document, CMARK_OPT_UNSAFE, nullptr, cmark_get_default_mem_allocator());
    std::string text = html;
    std::free(html);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return text;
}

/// The first tag that Markdown alone does not make, or a link or language that is alive.
std::string alive_tag(const std::string& html) {
    static const std::regex plain(
        "</?(p|strong|em|code|pre|ul|ol|li|h[1-6]|blockquote|table|thead|tbody|tr|th|td|del|a)>|<(hr|br) />|"
        "<ol start=\"\\d+\">|<t[hd] align=\"(left|right|center)\">|"
        "<input type=\"checkbox\" (checked=\"\" )?disabled=\"\" />");
    static const std::regex link(
        "<a href=\"(https?://[A-Za-z0-9.:\\[\\]-]*([/?#][^\"]*)?|mailto:[^\"]*|[^\":/?#]*([/?#][^\"]*)?)\"( "
        "title=\"[^\"]*\")?>");
    static const std::regex drawn("^(mermaid|geojson|topojson|stl|plantuml|suggestion)", std::regex::icase);
    for (auto i = html.find('<'); i != std::string::npos; i = html.find('<', i + 1)) {
        const auto tag = html.substr(i, html.find('>', i) + 1 - i);
        if (tag.starts_with("<code class=\"language-")) {
            if (std::regex_search(tag.substr(22), drawn)) return tag;
            continue;
        }
        if (tag.starts_with("<a href=\"//") || tag.starts_with("<a href=\"\\")) return tag;
        if (!std::regex_match(tag, plain) && !std::regex_match(tag, link)) return tag;
    }
    return "";
}

std::string found(const std::string& text, const std::regex& pattern, const std::string& what) {
    std::smatch match;
    return std::regex_search(text, match, pattern) ? what + ": " + match.str() : "";
}

}  // namespace

const std::vector<Case>& cases() {
    static const std::vector<Case> all = [] {
        std::vector<Case> read;
        std::ifstream file(std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/hostile_summaries.jsonl");
        for (std::string line; std::getline(file, line);) {
            const auto json = nlohmann::json::parse(line);
            read.push_back({json.at("kind"), json.at("words"), json.at("absent")});
        }
        return read;
    }();
    return all;
}

const std::vector<std::string>& fragments() {
    static const std::vector<std::string> all{
        "@a",
        "@",
        "&#64;",
        "<!-- ",
        "-->",
        "<!-",
        "-",
        "<img src=x>",
        "<",
        ">",
        "<b>",
        "</b>",
        "!",
        "![",
        "[",
        "]",
        "](http://evil.example)",
        "](",
        "][",
        "]:",
        "(",
        ")",
        "[r]: http://evil.example\n",
        "[github.com]",
        "https://a@evil.example",
        "https://",
        "www.",
        "://",
        "`",
        "``",
        "```",
        "```mermaid\n",
        "~~~",
        "\n",
        "\n\n",
        "/close",
        "\n/close",
        "/",
        " ",
        "    ",
        "\t",
        "> ",
        "- ",
        "1. ",
        "# ",
        "|",
        "|-|\n",
        "---\n",
        "===\n",
        "*",
        "**",
        "_",
        "~~",
        "\\",
        "&",
        "&lt;",
        "<!here>",
        "<@U1>",
        "<https://evil.example|x>",
        "<https://x.example>",
        "\u200B",
        "\u202E",
        "\u2028",
        "\xE2",
        "\x80",
        "\x01",
        "x",
        "word ",
        "é",
        "漢",
        "🚀",
        "<script>",
        "<div>\n",
        "<?",
        "<![CDATA[",
        "</",
        "ghp_",
        "0123456789abcdefABCDEF0123456789abcdef",
        "password=",
        "eyJ",
        ".",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "[^1]",
        "$",
        "{",
        "}",
        "\"",
        "'",
        "=",
        ":",
        "a",
        "1",
    };
    return all;
}

std::string unseen_in(std::string_view text) {
    constexpr std::array<std::pair<char32_t, char32_t>, 9> ranges{{{0x00, 0x08},
                                                                   {0x0B, 0x1F},
                                                                   {0x7F, 0x9F},
                                                                   {0x200C, 0x200F},
                                                                   {0x202A, 0x202E},
                                                                   {0x2060, 0x206F},
                                                                   {0xFEFF, 0xFEFF},
                                                                   {0xAD, 0xAD},
                                                                   {0xE0000, 0xE007F}}};
    // A joiner between two emoji is seen: it makes one picture of them.
    constexpr char32_t joiner = 0x200D;
    const auto is_emoji_part = [](char32_t point) { return point >= 0x2190 && point != 0xFEFF; };
    char32_t before = 0;
    while (!text.empty()) {
        const auto [bytes, value] = first_code_point(text);
        if (!value) return "malformed bytes";
        text.remove_prefix(bytes.size());
        const char32_t after = text.empty() ? 0 : first_code_point(text).value.value_or(0);
        const bool joins = *value == joiner && is_emoji_part(before) && is_emoji_part(after);
        for (const auto& [first, last] : ranges)
            if (*value >= first && *value <= last && !joins) return "unseen character " + to_hex(bytes);
        before = *value;
    }
    return "";
}

std::string alive_in_markdown(const std::string& post) {
    static const std::regex mention("@[A-Za-z0-9_]|&#0*64\\b|&#[xX]0*40\\b|&commat;");
    static const std::regex command("(^|\n|\xE2\x80\xA8|\xE2\x80\xA9)[ \t>]*/[A-Za-z]");
    static const std::regex slack("<[!@#]|<[A-Za-z][A-Za-z0-9+.-]*:[^>\n]*\\|");
    // Our own marker is the last line.
    auto text = post;
    if (const auto last = text.rfind('\n') + 1; text.substr(last).starts_with("<!-- epilogue:1 id="))
        text.resize(last);
    for (const auto& [pattern, what] : {std::pair{&mention, "mention"}, std::pair{&command, "command"},
                                        std::pair{&slack, "Slack sequence"}})
        if (auto complaint = found(text, *pattern, what); !complaint.empty()) return complaint;
    if (text.find("<!--") != std::string::npos) return "comment";
    if (auto complaint = unseen_in(text); !complaint.empty()) return complaint;
    const auto tag = alive_tag(rendered(text));
    return tag.empty() ? tag : "tag: " + tag;
}

std::string alive_in_mrkdwn(const std::string& text) {
    static const std::regex mention("@[A-Za-z0-9_]");
    static const std::regex sequence("<(?!https?://[^<>|]*(\\|[^<>|]*)?>)");
    if (auto complaint = found(text, mention, "mention"); !complaint.empty()) return complaint;
    if (auto complaint = found(text, sequence, "sequence"); !complaint.empty()) return complaint;
    return unseen_in(text);
}

std::string alive_in_wiki_markup(std::string text) {
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
    return found(text, mention, "mention");
}

std::string alive_in_html(const std::string& html) {
    static const std::regex harmless(
        "<!DOCTYPE "
        "html>|</?(html|head|body|p|strong|em|code|pre|ul|ol|li|h[1-6]|blockquote|table|tr|th|td|del)>|"
        "<(hr|br)>|<meta charset=\"utf-8\">|</a>|<a href=\"https?://[^\"<>'`\\\\\\s]+\">");
    for (auto i = html.find('<'); i != std::string::npos; i = html.find('<', i + 1)) {
        const auto tag = html.substr(i, html.find('>', i) + 1 - i);
        if (!std::regex_match(tag, harmless)) return "tag: " + tag;
    }
    return unseen_in(html);
}

std::string visible(const std::string& text) {
    return replaced(text, "\u200B", "");
}

}  // namespace epilogue::hostile
