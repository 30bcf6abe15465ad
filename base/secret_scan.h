// Where secrets stand in a text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace epilogue {

/// A secret in a text: what is to be taken out, and what it is.
struct FoundSecret {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view name;  ///< "GitHub token"; lives as long as the process
    bool is_vague = false;  ///< another rule may know it better
};

/// Every secret that a rule of secret_rules() finds in `text`, in no order; they may overlap. Time grows with
/// the length of `text`. Thread-safe.
std::vector<FoundSecret> find_secrets(std::string_view text);

}  // namespace epilogue
