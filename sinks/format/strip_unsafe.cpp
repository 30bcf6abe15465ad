#include "sinks/format/strip_unsafe.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/code_point.h"
#include "sinks/format/marker.h"

namespace epilogue {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Unseen, or able to turn a line around.
constexpr std::array<std::pair<char32_t, char32_t>, 15> unseen{{
    {0x00, 0x08},        // controls; \t and \n stay
    {0x0B, 0x1F},        //
    {0x7F, 0x9F},        // DEL and C1, where terminals look for CSI
    {0xAD, 0xAD},        // soft hyphen
    {0x34F, 0x34F},      // combining grapheme joiner
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

bool is_unseen(char32_t point) {
    return std::any_of(unseen.begin(), unseen.end(),
                       [&](const auto& range) { return point >= range.first && point <= range.second; });
}

/// Length of the HTML entity of '@' that starts `text`, or 0. Numeric ones need no semicolon in raw HTML.
std::size_t at_entity(std::string_view text) {
    constexpr std::string_view named = "&commat;";
    if (text.starts_with(named)) return named.size();
    if (!text.starts_with("&#")) return 0;
    const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
    const std::size_t first = hex ? 3 : 2;
    const auto end =
        std::min(text.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789", first), text.size());
    auto digits = text.substr(first, end - first);
    while (digits.starts_with('0')) digits.remove_prefix(1);
    if (digits != (hex ? "40" : "64")) return 0;
    return end < text.size() && text[end] == ';' ? end + 1 : end;
}

std::string with_plain_at_signs(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t entity = text[i] == '&' ? at_entity(text.substr(i)) : 0;
        plain += entity == 0 ? text[i] : '@';
        i += std::max<std::size_t>(entity, 1);
    }
    return plain;
}

}  // namespace

std::string without_unseen(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto [bytes, value] = first_code_point(text);
        text.remove_prefix(bytes.size());
        if (!value)
            result += replacement;
        else if (!is_unseen(*value))
            result += bytes;
    }
    return result;
}

std::string strip_unsafe(std::string_view text) {
    // The order matters: what is taken out may bring together a comment, an entity or a secret, never the
    // other way round.
    return redacted(with_plain_at_signs(without_comments(without_unseen(text))));
}

}  // namespace epilogue
