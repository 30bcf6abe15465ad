// Text one code point after the other.
#pragma once

#include <optional>
#include <string_view>

namespace epilogue {

struct CodePoint {
    std::string_view bytes;
    std::optional<char32_t> value;  ///< nullopt: `bytes` is one malformed byte
};

/// The code point that starts `text` (not empty).
CodePoint first_code_point(std::string_view text);

}  // namespace epilogue
