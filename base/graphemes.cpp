#include "base/graphemes.h"

#include <algorithm>

#include <utf8proc.h>

#include "base/code_point.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::size_t longest_word = 256;

/// The last place in `text`, at most `limit`, between two characters as they are drawn; 0 when there is none.
std::size_t last_break(std::string_view text, std::size_t limit) {
    // Before an ASCII character there is always one.
    std::size_t at = limit;
    while (at > 0 && static_cast<unsigned char>(text[at - 1]) >= 0x80) --at;
    if (at > 0) --at;
    std::size_t found = at;
    utf8proc_int32_t state = 0;
    std::optional<char32_t> before;
    while (at < text.size() && at <= limit) {
        const auto [bytes, value] = first_code_point(text.substr(at));
        const char32_t point = value.value_or(0xFFFD);
        if (before && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(*before),
                                                       static_cast<utf8proc_int32_t>(point), &state))
            found = at;
        before = point;
        at += bytes.size();
    }
    return found;
}

}  // namespace

std::string_view whole_words(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    const auto longest = prefix_of(text, max_bytes);
    // The character behind the prefix may be the blank that ends its last word.
    const auto blank = text.substr(0, longest.size() + 1).find_last_of(white_space);
    if (blank != std::string_view::npos && longest.size() - blank <= std::min(longest_word, max_bytes / 2)) {
        const auto last = text.substr(0, blank).find_last_not_of(white_space);
        if (last != std::string_view::npos) return text.substr(0, last + 1);
    }
    const std::size_t whole = last_break(text, longest.size());
    return whole == 0 ? longest : text.substr(0, whole);
}

bool is_pictograph(char32_t point) {
    const auto* const property = utf8proc_get_property(static_cast<utf8proc_int32_t>(point));
    return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

}  // namespace epilogue
