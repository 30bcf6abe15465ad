#include "sinks/format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "sinks/fence.h"
#include "sinks/marker.h"

namespace epilogue {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";
constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view truncation = "\n\n… (truncated)";

using Range = std::pair<char32_t, char32_t>;

/// Unseen, or able to turn a line around.
constexpr std::array<Range, 13> unseen{{
    {0x00, 0x08},        // controls; \t and \n stay
    {0x0B, 0x1F},        //
    {0x7F, 0x9F},        // DEL and C1, where terminals look for CSI
    {0x61C, 0x61C},      // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero-width space and joiners, direction marks
    {0x202A, 0x202E},    // bidirectional embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, bidirectional isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFEFF, 0xFEFF},    // zero-width no-break space
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0xE0000, 0xE007F},  // tags
}};

/// Beyond ASCII: what is no letter, digit or mark. Anything else may begin a name.
constexpr std::array<Range, 8> signs{{
    {0x80, 0xA9},
    {0xAB, 0xB4},
    {0xB6, 0xB9},
    {0xBB, 0xBF},
    {0x2000, 0x2BFF},
    {0x3000, 0x303F},
    {0xFE00, 0xFE6F},
    {0x1F000, 0x1FAFF},
}};

template <std::size_t n>
bool within(const std::array<Range, n>& ranges, char32_t point) {
    for (const auto& [first, last] : ranges)
        if (point >= first && point <= last) return true;
    return false;
}

/// The bytes of the code point that starts `text` (not empty); one byte when it is malformed.
std::string_view first_of(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    const auto bytes = text.substr(0, length);
    return is_utf8(bytes) ? bytes : bytes.substr(0, 1);
}

/// The value of one well-formed code point.
char32_t value_of(std::string_view bytes) {
    const auto lead = static_cast<unsigned char>(bytes.front());
    if (bytes.size() == 1) return lead;
    char32_t value = lead & (0x7FU >> bytes.size());
    for (const char byte : bytes.substr(1))
        value = (value << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
    return value;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Length of the HTML entity of '@' that starts `text`, or 0. Numeric ones need no semicolon in raw HTML.
std::size_t at_entity(std::string_view text) {
    constexpr std::string_view named = "&commat;";
    if (text.starts_with(named)) return named.size();
    if (!text.starts_with("&#")) return 0;
    const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
    const std::size_t first = hex ? 3 : 2;
    std::size_t end = first;
    while (end < text.size() && (hex ? is_hex_digit(text[end]) : is_digit(text[end]))) ++end;
    auto digits = text.substr(first, end - first);
    while (digits.starts_with('0')) digits.remove_prefix(1);
    if (digits != (hex ? "40" : "64")) return 0;
    return end < text.size() && text[end] == ';' ? end + 1 : end;
}

/// True when what follows an '@' could begin a name once rendered: a word character, an entity that stands
/// for one, or a tag that a platform takes out.
bool may_be_name(std::string_view after) {
    if (after.empty()) return false;
    const char next = after.front();
    if (static_cast<unsigned char>(next) >= 0x80) return !within(signs, value_of(first_of(after)));
    if (is_letter(next) || is_digit(next) || next == '_') return true;
    if (after.size() < 2) return false;
    const char second = after[1];
    if (next == '&') return second == '#' || is_letter(second);
    return next == '<' && (is_letter(second) || second == '/' || second == '!' || second == '?');
}

/// The first `count` code points.
std::string_view first_characters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    while (count > 0 && end < text.size()) {
        end += first_of(text.substr(end)).size();
        --count;
    }
    return text.substr(0, end);
}

/// A web address that ends where it should as the target of a Markdown link, or nothing for any other kind.
std::string link_target(std::string_view url) {
    constexpr std::string_view kept = "-._~:/?#[]!$&'*+,;=%";
    constexpr std::size_t max_bytes = 2000;
    if (!url.starts_with("https://") && !url.starts_with("http://")) return {};
    std::string target;
    for (const char c : url) {
        if (is_letter(c) || is_digit(c) || kept.find(c) != std::string_view::npos)
            target += c;
        else
            target += "%" + to_hex(std::string_view(&c, 1));
    }
    return target.size() > max_bytes ? std::string{} : target;
}

/// Neutralised, fitted; empty when nothing can be seen of it.
std::string part(std::string_view text, std::size_t max_characters) {
    const auto harmless = neutralised(text);
    return trimmed(harmless).empty() ? std::string{} : fitted(harmless, max_characters);
}

}  // namespace

std::string without_unseen(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto bytes = first_of(text);
        text.remove_prefix(bytes.size());
        if (!is_utf8(bytes))
            result += replacement;
        else if (!within(unseen, value_of(bytes)))
            result += bytes;
    }
    return result;
}

std::string without_mentions(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t entity = text[i] == '&' ? at_entity(text.substr(i)) : 0;
        decoded += entity == 0 ? text[i] : '@';
        i += entity == 0 ? 1 : entity;
    }
    std::string result;
    result.reserve(decoded.size());
    for (std::size_t i = 0; i < decoded.size(); ++i) {
        result += decoded[i];
        if (decoded[i] == '@' && may_be_name(std::string_view(decoded).substr(i + 1)))
            result += zero_width_space;
    }
    return result;
}

std::string neutralised(std::string_view text) {
    // The order matters: what is taken out may bring together a comment or an entity, never the other way
    // round.
    return without_mentions(without_comments(without_unseen(text)));
}

std::string fitted(std::string_view markdown, std::size_t max_characters) {
    const auto closed = [](std::string_view text) {
        const auto fence = closing_fence(text);
        return fence.empty() ? fence : (text.ends_with('\n') ? "" : "\n") + fence;
    };
    const auto whole = closed(markdown);
    if (code_points(markdown) + code_points(whole) <= max_characters) return std::string(markdown) + whole;
    // A closing fence may be as long as the text itself, and shrinks with it: give way by halves until all
    // fit.
    std::size_t keep = max_characters - code_points(truncation);
    while (true) {
        const auto head = first_characters(markdown, keep);
        const auto fence = closed(head);
        const std::size_t size = code_points(head) + code_points(fence) + code_points(truncation);
        if (size <= max_characters) return std::string(head) + fence + std::string(truncation);
        keep -= std::min(keep, (size - max_characters + 1) / 2);
    }
}

std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters) {
    constexpr std::size_t max_headline = 1000;
    constexpr std::size_t max_facts = 16000;
    const auto headline = part(replaced(summary.headline, "\n", " "), max_headline);
    const auto facts = part(summary.facts, max_facts);
    const auto target = link_target(summary.link);
    const auto link = target.empty() ? target : "[View the conversation](" + target + ")";

    const std::size_t blank_lines = 2 * 4;
    const std::size_t rest =
        code_points(headline) + code_points(facts) + link.size() + marker.size() + blank_lines;
    const auto words = part(summary.words, max_characters - rest);

    std::string post;
    for (const auto& piece : {headline, words, facts, link})
        if (!piece.empty()) post += piece + "\n\n";
    return post += marker;
}

}  // namespace epilogue
