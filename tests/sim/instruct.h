// Schedules of agents that workers tell to summarise their turns, and that people go on talking with.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace epilogue::sim {

/// Runs the schedule of `seed`: each turn has one post, about itself; none is told twice to be summarised; no
/// answer to us is taken for a turn.
Outcome run_instruct(std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
