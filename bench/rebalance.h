// What a worker that joins a loaded pool stops.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/bench_servers.h"

namespace epilogue::bench {

constexpr int partitions_of_the_pool = 12;

/// For each partition the longest time, in seconds and ascending, in which nothing of it was applied while a
/// fourth worker joined three under load. `properties`: those of the workers' clients; `name`: of the topic
/// and the database.
std::vector<double> silences_of_a_join(const BenchServers& servers, const std::string& name,
                                       const std::map<std::string, std::string>& properties);

}  // namespace epilogue::bench
