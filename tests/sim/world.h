// One schedule from its seed to its verdict: chaos, then everything heals, then it has to converge.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/faults.h"
#include "tests/sim/schedule.h"

namespace epilogue::sim {

struct Outcome {
    std::vector<std::string> violations;
    FaultCounts faults;
    std::uint64_t trace_hash = 0;
    std::int64_t records = 0;   ///< in the log
    std::int64_t steps = 0;     ///< of the scheduler
    std::int64_t owed = 0;      ///< posts that had to be seen
    std::int64_t attempts = 0;  ///< requests that post
    std::int64_t created = 0;   ///< posts that were visible at some time
    std::int64_t twins = 0;     ///< of them, second ones of a delivery, seen until they were removed
    double virtual_hours = 0;
};

/// Runs the schedule of `seed`.
Outcome run_schedule(std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
