// docs/agent-client.md: a part for each version that the two clients were driven against, and what was
// measured there, which is shown and never compared.
#pragma once

#include <string>

namespace epilogue::testing {

/// Compares the page's introduction, and its part with that heading ("## …"), with what was seen now; all
/// figures before a unit (" ms", " s", " times") count as equal. Empty when they are equal, else the first
/// line that differs. With EPILOGUE_UPDATE_GOLDEN the page gets both instead; its other parts stay, in order.
std::string difference_from_page(const std::string& introduction, const std::string& heading,
                                 const std::string& part);

}  // namespace epilogue::testing
