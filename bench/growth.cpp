#include "bench/growth.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "bench/readers.h"

namespace epilogue::bench {
namespace {

constexpr std::size_t live_conversations = 2000;

/// A log, and the conversations that are watched of it.
struct Log {
    Log(const BenchServers& servers, const std::string& name, std::size_t length, int parts)
        : topic(name), events(length) {
        RecordedTraffic traffic(name, std::min(live_conversations, length / 20));
        servers.fill(name, traffic, length, parts);
        ids = watched(traffic);
    }

    WorkerRun run(const std::string& database) const { return {topic, database, events, ids}; }

    std::string topic;
    std::size_t events;
    std::vector<std::string> ids;
};

/// Names of databases that no other run has.
std::string next_name() {
    static int made = 0;
    return fmt::format("growth_{}", ++made);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values.at(values.size() / 2);
}

/// The median of so many rounds of each run, the runs in turn.
std::vector<double> rates(const BenchServers& servers, const std::vector<WorkerRun>& runs,
                          std::size_t rounds) {
    std::vector<std::vector<double>> all(runs.size());
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < runs.size(); ++i) {
            WorkerRun run = runs[i];
            run.database = next_name();
            all[i].push_back(read_with_worker(servers, run).events_per_s);
        }
    std::vector<double> medians;
    for (const auto& values : all) medians.push_back(median(values));
    return medians;
}

/// "1.00 1.84 2.51", of the first.
std::string ratios(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(fmt::format("{:.2f}", value / values.front()));
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string raw(const std::vector<double>& values, const std::string& note) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(fmt::format("{:.0f}", value));
    return fmt::format("{} events/s; {}", fmt::join(texts, " "), note);
}

std::string cores_note(std::size_t wanted) {
    const auto there = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
    return there > wanted
               ? "as many cores as of them"
               : fmt::format("only {} cores for them and all servers: no figure of its own", there);
}

void measure_appliers(const BenchServers& servers, const GrowthPlan& plan, Report& report) {
    const Log log(servers, "growth_appliers", plan.events, 6);
    std::vector<WorkerRun> runs;
    for (std::int64_t appliers = 1; appliers <= 3; ++appliers) {
        runs.push_back(log.run(""));
        runs.back().more = {{"worker.appliers", appliers}};
        runs.back().cores = static_cast<std::size_t>(appliers);
    }
    const auto measured = rates(servers, runs, plan.rounds);
    report.add({"1, 2, 3 appliers of one worker, 6 partitions", ratios(measured), ">= 2.5",
                raw(measured, cores_note(3))});
}

void measure_workers(const BenchServers& servers, const GrowthPlan& plan, Report& report) {
    for (const int parts : {6, 24}) {
        const Log log(servers, fmt::format("growth_workers_{}", parts), plan.events, parts);
        std::vector<WorkerRun> runs;
        for (std::size_t workers = 1; workers <= 3; ++workers) {
            runs.push_back(log.run(""));
            runs.back().more = {{"worker.appliers", std::int64_t{1}}};
            runs.back().workers = workers;
            runs.back().cores = workers;
        }
        const auto measured = rates(servers, runs, plan.rounds);
        report.add({fmt::format("1, 2, 3 workers, {} partitions", parts), ratios(measured), ">= 2.5",
                    raw(measured, cores_note(3))});
    }
}

void measure_lengths(const BenchServers& servers, const GrowthPlan& plan, Report& report) {
    std::vector<double> measured;
    for (const std::size_t length : plan.lengths) {
        const Log log(servers, fmt::format("growth_length_{}", length), length, partitions);
        measured.push_back(read_with_worker(servers, log.run(next_name())).events_per_s);
    }
    report.add({fmt::format("{} events in the log", fmt::join(plan.lengths, ", ")), ratios(measured), "",
                raw(measured, "one worker on one core")});
}

void measure_callbacks(const BenchServers& servers, const GrowthPlan& plan, Report& report) {
    const Log log(servers, "growth_callbacks", plan.events, partitions);
    const RecordedTraffic strangers("growth_strangers", 1);
    std::vector<double> measured;
    std::vector<std::string> memory;
    for (const std::size_t callbacks : plan.callbacks) {
        WorkerRun run = log.run(next_name());
        run.watched.resize(std::min(run.watched.size(), callbacks));
        while (run.watched.size() < callbacks) run.watched.push_back(strangers.id(run.watched.size()));
        const Reading reading = read_with_worker(servers, run);
        measured.push_back(reading.events_per_s);
        memory.push_back(fmt::format("{:.0f}", reading.cost.peak_mb));
    }
    report.add({fmt::format("{} ACTIVE callbacks", fmt::join(plan.callbacks, ", ")), ratios(measured), "",
                raw(measured, fmt::format("peak memory {} MB (goal < 300)", fmt::join(memory, " ")))});
}

}  // namespace

void measure_growth(const BenchServers& servers, const GrowthPlan& plan, Report& report) {
    report.begin("Growth",
                 "events per second of a worker over a filled log, as ratios to the first of the row");
    measure_appliers(servers, plan, report);
    measure_workers(servers, plan, report);
    measure_lengths(servers, plan, report);
    measure_callbacks(servers, plan, report);
}

}  // namespace epilogue::bench
