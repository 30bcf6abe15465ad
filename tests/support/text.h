// What tests ask of texts.
#pragma once

#include <string_view>

namespace epilogue::testing {

/// Whether `part` stands anywhere in `text`.
inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace epilogue::testing
