// How long to wait before the next try. Pure: the caller brings the randomness and does the waiting.
#pragma once

#include <chrono>

namespace epilogue {

/// No wait is shorter than this: with full jitter one draw in twenty of the first try would otherwise be
/// as good as no wait, and a dependency that fails at once would be asked in a tight loop.
inline constexpr std::chrono::milliseconds shortest_backoff{50};

/// Full jitter (contract §10): uniform in [0, min(cap, base · 2^(attempt − 1))], at least `shortest_backoff`
/// and never above `cap`. `attempt` is the number of failures so far, from 1 (smaller counts as 1);
/// `random01` a draw from [0, 1] (what lies outside, or is no number, is taken as the nearer end, or 1).
/// Any attempt is fine: nothing overflows.
std::chrono::milliseconds full_jitter(int attempt, double random01,
                                      std::chrono::milliseconds base = std::chrono::seconds(1),
                                      std::chrono::milliseconds cap = std::chrono::seconds(60));

}  // namespace epilogue
