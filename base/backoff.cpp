#include "base/backoff.h"

#include <algorithm>
#include <cmath>

namespace epilogue {

std::chrono::milliseconds full_jitter(int attempt, double random01, std::chrono::milliseconds base,
                                      std::chrono::milliseconds cap) {
    const double draw = std::isnan(random01) ? 1.0 : std::clamp(random01, 0.0, 1.0);
    // A double does not overflow here: 2^2000 is infinite, and the minimum with the cap is the cap.
    const double grown = std::ldexp(static_cast<double>(base.count()), std::max(attempt, 1) - 1);
    const double ceiling = std::min(grown, static_cast<double>(cap.count()));
    const std::chrono::milliseconds wait(static_cast<std::chrono::milliseconds::rep>(draw * ceiling));
    return std::min(std::max(wait, shortest_backoff), cap);
}

}  // namespace epilogue
