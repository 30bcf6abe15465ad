// Programs that read one log to its end: the worker, and the baselines that post nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/bench_servers.h"

namespace epilogue::bench {

/// A log that was read to its end.
struct Reading {
    double events_per_s = 0;  ///< from the first event that was done to the last
    Cost cost;                ///< of all its processes
    double ends_per_event = 0;
    std::size_t posts = 0;
    double posted_per_s = 0;  ///< events per second until what they made due was visible as well
};

/// Workers on a new database over a topic that is filled already.
struct WorkerRun {
    std::string topic;
    std::string database;  ///< its name: no other run's
    std::size_t events = 0;
    std::vector<std::string> watched;         ///< conversations
    nlohmann::json platform_rules = nullptr;  ///< FakePlatformProcess::rules; null: none
    testing::Settings more = {};              ///< configuration
    std::size_t workers = 1;
    std::size_t cores = 1;  ///< for all of them together
};
/// Until everything is applied and posted. With several workers it is measured from the moment when each of
/// them has partitions. Throws when a post is missing or there twice.
Reading read_with_worker(const BenchServers& servers, const WorkerRun& run);
/// plain_consumer.cpp.
Reading read_plainly(const BenchServers& servers, const std::string& topic, std::size_t events);
/// floor_consumer.cpp, on a new database.
Reading read_at_the_floor(const BenchServers& servers, const std::string& topic, const std::string& database,
                          std::size_t events);
/// python_consumer.py, on a new database.
Reading read_with_python(const BenchServers& servers, const std::string& topic, const std::string& database,
                         std::size_t events);

/// Seconds from the moment a turn was counted to the moment its post was recorded as visible, ascending,
/// while events come at `per_s` for `seconds`.
std::vector<double> live_delays(const BenchServers& servers, const std::string& topic,
                                const std::string& database, std::size_t per_s, std::size_t seconds);

}  // namespace epilogue::bench
