// What the doctor says: a finding for each thing it looked at, a guarantee for each sink.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epilogue::doctor {

enum class Severity {
    ok,
    warning,      ///< works, but not as well as it could, or not for long
    error,        ///< something does not work until it is mended
    unreachable,  ///< a dependency could not be asked at all
};
std::string_view name_of(Severity severity);

struct Finding {
    Severity severity = Severity::ok;
    std::string component;  ///< kafka, database, keys, relay, summary, or a sink
    std::string check;      ///< one word or two: what was looked at
    std::string text;       ///< what is so
    std::string remedy;     ///< how to mend it; empty when all is well
};
using Findings = std::vector<Finding>;

enum class Promise {
    exactly_once,   ///< lost answers are looked up
    at_most_once,   ///< a lost answer parks the delivery
    at_least_once,  ///< a lost end is tried again, unseen
    none,           ///< nothing can be posted
};
std::string_view name_of(Promise promise);

/// What is promised of the posts of one sink, as it stands now. (sinks.md §2.4)
struct Guarantee {
    std::string sink;
    Promise promise = Promise::none;
    std::string why;
};

struct Diagnosis {
    Findings findings;
    std::vector<Guarantee> guarantees;
};

/// The worst of all; ok when there is none.
Severity worst_of(const Findings& findings);

}  // namespace epilogue::doctor
