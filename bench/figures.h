// What is measured: each figure of one run of one program.
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
    Cost cost;                ///< of the whole process
    double ends_per_event = 0;
    double posts_per_s = 0;
    std::size_t posts = 0;
    double posted_per_s = 0;  ///< events per second until what they made due was visible as well
};

/// The worker, on a new database, until everything is applied and posted;
/// the platform keeps to `platform_rules` (FakePlatformProcess::rules), null: to none. Throws when a post is
/// missing or there twice.
Reading read_with_worker(const BenchServers& servers, const std::string& topic, const std::string& database,
                         const std::vector<std::string>& watched, std::size_t events,
                         const nlohmann::json& platform_rules = nullptr);
/// plain_consumer.cpp.
Reading read_plainly(const BenchServers& servers, const std::string& topic, std::size_t events);
/// python_consumer.py, on a new database.
Reading read_with_python(const BenchServers& servers, const std::string& topic, const std::string& database,
                         std::size_t events);

/// Seconds from the moment a turn was counted to the moment its post was recorded as visible, ascending,
/// while events come at `per_s` for `seconds`.
std::vector<double> live_delays(const BenchServers& servers, const std::string& topic,
                                const std::string& database, std::size_t per_s, std::size_t seconds);

}  // namespace epilogue::bench
