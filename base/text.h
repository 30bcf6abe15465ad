// Small, strict text functions: UTF-8, hex, trimming. All take and return UTF-8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// True when `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

/// The longest prefix of at most `max_bytes` bytes that does not end inside a code point.
std::string_view prefix_of(std::string_view text, std::size_t max_bytes);

/// How many code points valid UTF-8 holds.
std::size_t code_points(std::string_view text);

/// Without leading and trailing ASCII white space.
std::string_view trimmed(std::string_view text);

/// Lower-case ASCII letters; other bytes stay.
std::string lowered(std::string_view text);

/// Lower-case hex digits of the bytes.
std::string to_hex(std::string_view bytes);

/// The decimal number that `text` is as a whole; nullopt when it is none, or too great for the type.
std::optional<std::int64_t> integer_in(std::string_view text);

/// The parts between `separator`, trimmed, empty ones left out.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` with every occurrence of `from` (not empty) replaced.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace epilogue
