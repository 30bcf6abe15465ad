// Followers of one conversation's log, from its first event to a topic that has all of it: killed, frozen and
// fenced, before a server that loses frames, cannot be read or goes away, and a broker that gives records up
// or is away.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace epilogue::sim {

/// Runs such a schedule; everything in it follows from `seed`. Every second seed has a server of
/// before 1.45.0.
Outcome run_follow(std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
