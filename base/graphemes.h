// What a reader takes for one character or one word, so that a cut tears none apart (UAX #29, by
// libutf8proc).
#pragma once

#include <cstddef>
#include <string_view>

namespace epilogue {

/// `text` when it has at most `max_bytes` bytes. Else a beginning of it that has: up to the end of a word,
/// when one ends within the last 256 bytes and the second half; else up to the end of what is drawn as one
/// character.
std::string_view whole_words(std::string_view text, std::size_t max_bytes);

/// Whether a code point is drawn as a picture, so that others are joined to it (Extended_Pictographic).
bool is_pictograph(char32_t point);

}  // namespace epilogue
