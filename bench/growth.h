// How one figure grows with another: loops, workers, partitions, the length of the log, the callbacks that
// wait.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/bench_servers.h"
#include "bench/report.h"

namespace epilogue::bench {

struct GrowthPlan {
    std::size_t events = 400'000;                          ///< of the log for all but `lengths`
    std::size_t rounds = 3;                                ///< of loops and workers: the median is told
    std::vector<std::size_t> lengths{100'000, 1'000'000};  ///< of logs
    std::vector<std::size_t> callbacks{10, 100'000};       ///< that are ACTIVE
};

/// Events per second and what they cost, ratios to the first of each row.
void measure_growth(const BenchServers& servers, const GrowthPlan& plan, Report& report);

}  // namespace epilogue::bench
