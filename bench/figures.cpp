#include "bench/figures.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/measuring.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"

namespace epilogue::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr testing::Milliseconds longest{900'000};

double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
}

void wait_until_posted(Tables& tables, std::size_t planned) {
    testing::eventually("every turn is counted and posted", longest, [&] {
        return tables.count(
                   "SELECT (SELECT COUNT(*) FROM conversations WHERE timer=1) + "
                   "(SELECT COUNT(*) FROM deliveries WHERE state<>'SENT')") == 0 &&
               tables.count("SELECT COUNT(*) FROM deliveries") >= planned;
    });
}

/// What a baseline printed of itself.
Reading told_by(const testing::Command& command) {
    testing::Process process(command);
    pin_to_first_core(process.pid());
    if (process.wait(longest).value_or(1) != 0)
        throw std::runtime_error(command.argv[0] + ": " + process.err());
    const auto told = nlohmann::json::parse(process.out());
    Reading reading;
    reading.events_per_s = told.at("events").get<double>() / told.at("seconds").get<double>();
    reading.cost = {told.at("cpu_s").get<double>(), told.at("peak_mb").get<double>()};
    return reading;
}

}  // namespace

Reading read_with_worker(const BenchServers& servers, const std::string& topic, const std::string& database,
                         const std::vector<std::string>& watched, std::size_t events,
                         const nlohmann::json& platform_rules) {
    const testing::Rig rig = servers.rig(topic, database);
    servers.watch(database, watched);
    Tables tables(servers, database);
    if (!platform_rules.is_null()) rig.platform().rules(platform_rules);
    auto worker = rig.epilogue().start_worker();
    pin_to_first_core(worker.process().pid());
    const auto applied = [&] { return tables.count("SELECT SUM(next_offset) FROM partition_progress"); };
    std::size_t first = 0;
    testing::eventually("the first events are applied", longest, [&] {
        if (!worker.process().running())
            throw std::runtime_error("the worker ended: " + worker.process().err());
        return (first = applied()) > 0;
    });
    const auto began = Clock::now();
    if (first < events)
        testing::eventually("all events are applied", longest, [&] { return applied() == events; });
    const double took = std::max(seconds_since(began), 0.001);
    const auto ended = tables.rows("SELECT UTC_TIMESTAMP(6)").at(0).at(0).value();
    wait_until_posted(tables, 0);

    Reading reading;
    reading.cost = cost_of(worker.process().pid());
    reading.events_per_s = static_cast<double>(events - first) / took;
    reading.ends_per_event =
        testing::total(worker.metrics(), "epilogue_transitions_total") / static_cast<double>(events);
    reading.posts = tables.count("SELECT COUNT(*) FROM deliveries");
    const double later = tables.number(fmt::format(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '{0}', MAX(sent_at))/1e6 FROM deliveries WHERE created_at<='{0}'",
        ended));
    reading.posted_per_s = static_cast<double>(events - first) / (took + std::max(later, 0.0));
    const std::size_t visible = rig.platform().counts().at("visible");
    if (visible != reading.posts)
        throw std::runtime_error(
            fmt::format("{} turns are owed, {} posts are visible", reading.posts, visible));
    worker.process().stop(60s);
    return reading;
}

Reading read_plainly(const BenchServers& servers, const std::string& topic, std::size_t events) {
    return told_by({{EPILOGUE_BENCH_PLAIN, servers.broker().bootstrap(), topic, std::to_string(events)}});
}

Reading read_with_python(const BenchServers& servers, const std::string& topic, const std::string& database,
                         std::size_t events) {
    servers.create_database(database);
    const auto to = servers.server().settings(database);
    return told_by({{"/usr/bin/python3", EPILOGUE_BENCH_PYTHON, servers.broker().bootstrap(), topic,
                     std::to_string(events), std::to_string(to.port), to.user, to.password, database}});
}

std::vector<double> live_delays(const BenchServers& servers, const std::string& topic,
                                const std::string& database, std::size_t per_s, std::size_t seconds) {
    constexpr std::size_t beats_per_s = 100;
    servers.broker().create_topic(topic, partitions);
    const testing::Rig rig = servers.rig(topic, database);
    RecordedTraffic traffic(topic, per_s);
    std::vector<std::vector<testing::Record>> beats(seconds * beats_per_s);
    for (auto& records : beats)
        for (std::size_t i = 0; i < per_s / beats_per_s; ++i) {
            const auto event = traffic.next();
            records.push_back({.key = event.conversation_id, .value = event.text});
        }
    servers.watch(database, watched(traffic));
    auto worker = rig.epilogue().start_worker();
    pin_to_first_core(worker.process().pid());
    worker.wait_ready(longest);
    testing::Producer producer(servers.broker().bootstrap());
    producer.produce(topic, {{.key = "the first of all"}});  // it takes longer than the others
    Beat beat(1000ms / beats_per_s);
    for (const auto& records : beats) {
        producer.produce(topic, records);
        beat.wait();
    }
    Tables tables(servers, database);
    const std::size_t events = seconds * per_s + 1;
    testing::eventually("all events are applied", longest, [&] {
        return tables.count("SELECT SUM(next_offset) FROM partition_progress") == events;
    });
    wait_until_posted(tables, 1);
    std::vector<double> delays;
    for (const auto& row :
         tables.rows("SELECT TIMESTAMPDIFF(MICROSECOND, created_at, sent_at) FROM deliveries"))
        delays.push_back(std::stod(row.at(0).value()) / 1e6);
    std::sort(delays.begin(), delays.end());
    worker.process().stop(60s);
    return delays;
}

}  // namespace epilogue::bench
