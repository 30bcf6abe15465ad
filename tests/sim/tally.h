// What happened over many schedules.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace epilogue::sim {

class Tally {
  public:
    void add(std::uint64_t seed, const Outcome& outcome);
    /// Several lines: how often each fault and each crash point occurred, violations with their seeds.
    std::string report() const;
    /// What occurred too rarely for the run to prove something.
    std::vector<std::string> missing() const;
    std::int64_t violations() const { return static_cast<std::int64_t>(violating_.size()); }

  private:
    struct Violating {
        std::uint64_t seed;
        std::string what;
    };
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::vector<Violating> violating_;
    std::vector<std::int64_t> records_;
    std::vector<int> kinds_;
    FaultCounts faults_;
    std::int64_t steps_ = 0;
    std::int64_t owed_ = 0;
    std::int64_t attempts_ = 0;
    std::int64_t created_ = 0;
    std::int64_t duplicates_ = 0;
    double virtual_hours_ = 0;
};

}  // namespace epilogue::sim
