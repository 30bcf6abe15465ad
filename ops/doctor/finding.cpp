#include "ops/doctor/finding.h"

#include <algorithm>

#include "base/enum_names.h"

namespace epilogue::doctor {

std::string_view name_of(Severity severity) {
    constexpr EnumNames<Severity, 4> names{{"ok", "warning", "error", "unreachable"}};
    return names.of(severity);
}

std::string_view name_of(Promise promise) {
    constexpr EnumNames<Promise, 4> names{{"exactly_once", "at_most_once", "at_least_once", "none"}};
    return names.of(promise);
}

Severity worst_of(const Findings& findings) {
    Severity worst = Severity::ok;
    for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
    return worst;
}

}  // namespace epilogue::doctor
