// 10,000 posts are pending on one credential when its platform turns against it, while a few of another
// credential come all the time.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/sim/world.h"

namespace epilogue::sim {

enum class Storm {
    rate,        ///< 429, with waiting times and without, again and again
    credential,  ///< 401 for an hour
};
/// Any other word is `credential`.
constexpr Storm storm_called(std::string_view name) {
    return name == "rate" ? Storm::rate : Storm::credential;
}

/// Runs that storm. Violations, by the platform's own times of receipt: a request, of whatever kind, inside a
/// waiting time it has asked for; more posts than its limits; a refused credential that is tried more than
/// every five minutes; a post of the other credential that waits; a post that is lost or seen twice at the
/// end.
Outcome run_storm(Storm storm, std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
