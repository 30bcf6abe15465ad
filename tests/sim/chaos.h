// One schedule from its seed to its verdict: chaos, then everything heals, then it has to converge.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace epilogue::sim {

/// Lets what is drawn strike the world's machines until `end`; then everything heals and has to converge,
/// from `quiet_until` on within half an hour, and is judged.
Outcome go_through_faults(World& world, Micros end, Micros quiet_until = Micros{0});

/// Runs the schedule of `seed`.
Outcome run_schedule(std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
