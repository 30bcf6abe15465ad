// Markdown code fences (CommonMark 0.31 §4.5), as far as it takes to know which one a text leaves open.
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// The line that closes the code fence `markdown` leaves open at its end, indented as its opening was; empty
/// when none is open. Fences in quotes and list items end with their container, so those need no line.
std::string closing_fence(std::string_view markdown);

}  // namespace epilogue
