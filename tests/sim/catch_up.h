// What the topic does not tell: conversations whose events it has not at all, not from their beginning, not
// to their end, or much later than the agent server. Whatever goes wrong meanwhile, each callback is told
// once what it would have been told, and no inactivity counts that the server could have disproved. Of each
// 64 seeds one has a server that is away for hours, and one a frozen server beside one that answers.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace epilogue::sim {

/// Runs such a schedule; everything in it follows from `seed`.
Outcome run_catch_up(std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
