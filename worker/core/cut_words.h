// The line below an agent's words that do not fit, in the language of our own words.
#pragma once

#include <string>
#include <string_view>

#include "worker/core/phrases.h"

namespace epilogue {

/// `words` with the line that redacted_words() has put below them in that language. Words that fit stay as
/// they are.
std::string cut_words_in(Language language, std::string words);

/// Whether `words` end with such a line, in any language.
bool are_cut_words(std::string_view words);

}  // namespace epilogue
