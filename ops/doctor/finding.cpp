#include "ops/doctor/finding.h"

#include <algorithm>

namespace epilogue::doctor {

std::string_view name_of(Severity severity) {
    constexpr std::string_view names[] = {"ok", "warning", "error", "unreachable"};
    return names[static_cast<std::size_t>(severity)];
}

std::string_view name_of(Promise promise) {
    constexpr std::string_view names[] = {"exactly_once", "at_most_once", "at_least_once", "none"};
    return names[static_cast<std::size_t>(promise)];
}

Severity worst_of(const Findings& findings) {
    Severity worst = Severity::ok;
    for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
    return worst;
}

}  // namespace epilogue::doctor
