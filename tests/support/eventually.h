// Waiting for what announces itself nowhere: rows, offsets, ports. The only place that waits by time.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace epilogue::testing {

using Milliseconds = std::chrono::milliseconds;

/// Long enough for a crowded machine: waiting ends with what is waited for, so this costs only a failed test.
constexpr Milliseconds patience{120'000};

/// What did not come about before its deadline; what() names it.
class GaveUp : public std::runtime_error {
  public:
    GaveUp(std::string_view what, Milliseconds deadline)
        : std::runtime_error("gave up after " + std::to_string(deadline.count()) +
                             " ms: " + std::string(what)) {}
};

/// Asks `condition()` at once and then every 20 ms until its answer converts to true, and returns that
/// answer. Throws GaveUp with `what` (what is waited for, as a statement) when `deadline` has passed; the
/// condition is asked once more after it. What the condition throws goes to the caller.
template <class Condition>
auto eventually(std::string_view what, Milliseconds deadline, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (;;) {
        const bool last = std::chrono::steady_clock::now() >= end;
        if (auto answer = condition()) return answer;
        if (last) throw GaveUp(what, deadline);
        std::this_thread::sleep_for(Milliseconds(20));
    }
}

/// The same with all our patience.
template <class Condition>
auto eventually(std::string_view what, Condition condition) {
    return eventually(what, patience, std::move(condition));
}

}  // namespace epilogue::testing
