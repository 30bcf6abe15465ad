// ASCII's control characters: what ends a line, a field or a command where text becomes a part of one.
#pragma once

#include <algorithm>
#include <string_view>

namespace epilogue {

/// Whether `text` holds one of U+0000 to U+001F, or DEL. Bytes of other code points are none.
inline bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace epilogue
