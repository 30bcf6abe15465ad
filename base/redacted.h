// Secrets in text that is kept or goes to the public: found by their form, and replaced. (sinks.md §3)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace epilogue {

/// `text` with every secret that secret_rules() know, as it stands or as its reader gets it, replaced by
/// "«GitHub token removed»" and the like. What only resembles one (too short, words without a digit) stays.
/// redacted(redacted(x)) == redacted(x). Time grows with the length of `text`.
std::string redacted(std::string_view text);

/// The first `max_bytes` of the same, cut on a code-point boundary. What is cut off is no half of a secret:
/// that would not be known any more.
std::string redacted_prefix(std::string_view text, std::size_t max_bytes);

/// The same for a person: what does not fit into `max_bytes` (at least 100) is cut at the end of a word
/// (base/graphemes.h), and a last line says how much is missing: "… (1234 more characters)". What fits stays
/// as it is.
std::string redacted_words(std::string_view text, std::size_t max_bytes);

}  // namespace epilogue
