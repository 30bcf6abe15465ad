// Secrets in text that goes to the public: found by their form, and replaced. (sinks.md §3)
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// `text` with every token, private key, password in a URL and `name=value` of a secret replaced by
/// "«GitHub token removed»" and the like. What only resembles one (too short, words without a digit) stays.
std::string redacted(std::string_view text);

}  // namespace epilogue
