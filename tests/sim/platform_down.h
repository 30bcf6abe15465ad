// A platform is down for 25 minutes while a post a second is owed to it, and a few to another all the time.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/sim/world.h"

namespace epilogue::sim {

enum class Down {
    all,    ///< every request gets a 503
    posts,  ///< look-ups are answered
};
/// "read_only" is `posts`, any other word `all`.
constexpr Down down_called(std::string_view name) {
    return name == "read_only" ? Down::posts : Down::all;
}

/// Runs that outage, with all workers killed three times while a request is on its way. Violations, by the
/// platform's own times of receipt: more than twenty requests a minute that it cannot answer; more look-ups
/// than four times as many while it is read-only; no request within ten seconds of its recovery; then more
/// posts than its limits; a post to the other platform that waits; a post that is lost or seen twice at the
/// end.
Outcome run_platform_down(Down down, std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
