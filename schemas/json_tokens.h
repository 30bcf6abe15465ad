// The tokens of JSON, as Python's json reads them. simdjson hands out raw tokens without looking into them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace epilogue {

/// Length of the string token that `text` starts with, both quotes included; 0 when there is none, when it
/// holds an escape that JSON does not know, or when it does not end.
std::size_t string_token_length(std::string_view text);

/// What stands between the quotes of a valid string token, without escapes. A surrogate that has no partner,
/// which UTF-8 cannot say, becomes U+FFFD.
std::string unescaped(std::string_view between_quotes);

/// True for a number of RFC 8259 of any size and length, and for NaN, Infinity and -Infinity.
bool is_number_token(std::string_view token);

/// Where `text` stops being UTF-8; its size when it never does.
std::size_t utf8_fault(std::string_view text);

/// Where the first control character inside a string stands; the text's size when there is none.
std::size_t control_character_fault(std::string_view text);

}  // namespace epilogue
