// The faults that tests ask for: an ordered list of rules; the first that is due for a request decides what
// becomes of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

enum class FaultAction {
    apply_then_hang,    ///< applied, then held
    hang,               ///< held; released, it is applied late
    apply_then_reset,   ///< applied, then RST
    reset,              ///< RST, not applied
    apply_then_status,  ///< applied, then the rule's answer
    status,             ///< the rule's answer, not applied
    apply_twice,        ///< two visible, one answer
    hide,               ///< applied and answered, but kept out of lists for a while
    delay,              ///< applied, answered after a while
    half_answer,        ///< applied, answered by half
    suppress,           ///< answered as if applied
};

/// What a rule does to a request.
struct Fault {
    FaultAction action = FaultAction::status;
    std::string name;  ///< the action as rules spell it
    std::chrono::milliseconds wait{0};
    Reply answer;  ///< of the two status actions
};

struct Rule {
    std::string method;  ///< "" matches all
    std::optional<std::regex> path;
    std::optional<std::regex> body;
    std::size_t skip = 0;             ///< matching requests still to let pass
    std::optional<std::size_t> left;  ///< matching requests still to treat; none: all
    Fault fault;
};

/// Not thread-safe: its owner locks.
class RuleBook {
  public:
    /// `json`: an array of rules, which replaces the list, or {"append": [...]}. A rule is {"do", "method",
    /// "path" and "body" (ECMAScript, found anywhere), "skip" (0), "times" (1; -1: always), "ms", "status"
    /// (500), "headers" {}, "answer" (text, or any JSON)}. Throws std::invalid_argument and keeps the list
    /// when any of it is not understood.
    void read(std::string_view json);

    /// What is due for `request`, and counts it; nullopt: no fault.
    std::optional<Fault> next(const Request& request);

    void clear() { rules_.clear(); }

  private:
    std::vector<Rule> rules_;
};

}  // namespace epilogue::fake_platform
