#include "bench/readers.h"

#include <algorithm>
#include <deque>
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
    pin_to_first_cores(process.pid());
    if (process.wait(longest).value_or(1) != 0)
        throw std::runtime_error(command.argv[0] + ": " + process.err());
    const auto told = nlohmann::json::parse(process.out());
    Reading reading;
    reading.events_per_s = told.at("events").get<double>() / told.at("seconds").get<double>();
    reading.cost = {told.at("cpu_s").get<double>(), told.at("peak_mb").get<double>()};
    return reading;
}

/// A baseline that reads so many events of the topic into a new database.
testing::Command with_a_database(std::vector<std::string> argv, const BenchServers& servers,
                                 const std::string& topic, const std::string& database, std::size_t events) {
    servers.create_database(database);
    const auto to = servers.server().settings(database);
    for (const std::string& argument : {servers.broker().bootstrap(), topic, std::to_string(events),
                                        std::to_string(to.port), to.user, to.password, database})
        argv.push_back(argument);
    return {.argv = argv};
}

}  // namespace

Reading read_with_worker(const BenchServers& servers, const WorkerRun& run) {
    const testing::Rig rig = servers.rig(run.topic, run.database, run.more);
    servers.watch(run.database, run.watched);
    Tables tables(servers, run.database);
    if (!run.platform_rules.is_null()) rig.platform().rules(run.platform_rules);
    std::deque<testing::WorkerProcess> pool;
    for (std::size_t i = 0; i < run.workers; ++i) {
        pool.push_back(rig.epilogue().start_worker());
        pin_to_first_cores(pool.back().process().pid(), run.cores);
    }
    const auto applied = [&] { return tables.count("SELECT SUM(next_offset) FROM partition_progress"); };
    std::size_t first = 0;
    testing::eventually("every worker applies events", longest, [&] {
        for (testing::WorkerProcess& worker : pool)
            if (!worker.process().running())
                throw std::runtime_error("the worker ended: " + worker.process().err());
        first = applied();
        return first == run.events ||
               tables.count("SELECT COUNT(DISTINCT owner) FROM partition_progress WHERE next_offset>0") ==
                   run.workers;
    });
    const auto began = Clock::now();
    if (first < run.events)
        testing::eventually("all events are applied", longest, [&] { return applied() == run.events; });
    const double took = std::max(seconds_since(began), 0.001);
    const auto ended = tables.rows("SELECT UTC_TIMESTAMP(6)").at(0).at(0).value();
    wait_until_posted(tables, 0);

    Reading reading;
    double ends = 0;
    for (testing::WorkerProcess& worker : pool) {
        const Cost cost = cost_of(worker.process().pid());
        reading.cost.cpu_s += cost.cpu_s;
        reading.cost.peak_mb += cost.peak_mb;
        ends += testing::total(worker.metrics(), "epilogue_transitions_total");
    }
    const auto timed = static_cast<double>(run.events - first);
    reading.events_per_s = timed / took;
    reading.ends_per_event = ends / static_cast<double>(run.events);
    reading.posts = tables.count("SELECT COUNT(*) FROM deliveries");
    const double later = tables.number(fmt::format(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '{0}', MAX(sent_at))/1e6 FROM deliveries WHERE created_at<='{0}'",
        ended));
    reading.posted_per_s = timed / (took + std::max(later, 0.0));
    const std::size_t visible = rig.platform().counts().at("visible");
    if (visible != reading.posts)
        throw std::runtime_error(
            fmt::format("{} turns are owed, {} posts are visible", reading.posts, visible));
    for (testing::WorkerProcess& worker : pool) worker.process().stop(60s);
    return reading;
}

Reading read_plainly(const BenchServers& servers, const std::string& topic, std::size_t events) {
    return told_by({{EPILOGUE_BENCH_PLAIN, servers.broker().bootstrap(), topic, std::to_string(events)}});
}

Reading read_at_the_floor(const BenchServers& servers, const std::string& topic, const std::string& database,
                          std::size_t events) {
    return told_by(with_a_database({EPILOGUE_BENCH_FLOOR}, servers, topic, database, events));
}

Reading read_with_python(const BenchServers& servers, const std::string& topic, const std::string& database,
                         std::size_t events) {
    return told_by(
        with_a_database({"/usr/bin/python3", EPILOGUE_BENCH_FOLDER "/baselines/python_consumer.py"}, servers,
                        topic, database, events));
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
    pin_to_first_cores(worker.process().pid());
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
