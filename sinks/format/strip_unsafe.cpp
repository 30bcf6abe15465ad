#include "sinks/format/strip_unsafe.h"

#include <algorithm>

#include "base/code_point.h"
#include "base/graphemes.h"
#include "base/redacted.h"
#include "base/text.h"
#include "base/unseen.h"
#include "sinks/format/marker.h"

namespace epilogue {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

constexpr char32_t joiner = 0x200D;  ///< makes one emoji of two

bool begins_with_picture(std::string_view text) {
    if (text.empty()) return false;
    const auto value = first_code_point(text).value;
    return value && is_pictograph(*value);
}

/// What may stand between an emoji and the joiner behind it: a variation selector, a skin tone.
bool varies_picture(char32_t point) {
    return point == 0xFE0F || (point >= 0x1F3FB && point <= 0x1F3FF);
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
    bool behind_picture = false;  ///< an emoji, with its variation and skin tone
    while (!text.empty()) {
        const auto [bytes, value] = first_code_point(text);
        text.remove_prefix(bytes.size());
        const bool joins = value == joiner && behind_picture && begins_with_picture(text);
        const bool is_kept = value && (joins || !is_unseen(*value));
        if (!value) result += replacement;
        if (is_kept) result += bytes;
        behind_picture = is_kept && (is_pictograph(*value) || (behind_picture && varies_picture(*value)));
    }
    return result;
}

std::string strip_unsafe(std::string_view text) {
    // The order matters: what is taken out may bring together a comment, an entity or a secret, never the
    // other way round.
    return redacted(with_plain_at_signs(without_comments(without_unseen(text))));
}

}  // namespace epilogue
