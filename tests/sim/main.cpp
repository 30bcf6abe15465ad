// epilogue-sim: runs schedules, prints what happened in them and which seeds broke a promise.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/sim/catch_up.h"
#include "tests/sim/chaos.h"
#include "tests/sim/follow.h"
#include "tests/sim/instruct.h"
#include "tests/sim/outage.h"
#include "tests/sim/platform_down.h"
#include "tests/sim/storm.h"
#include "tests/sim/tally.h"

namespace {

using namespace epilogue::sim;

/// Runs what a seed stands for: a schedule of faults, or an outage.
using Run = std::function<Outcome(std::uint64_t seed, Trace::Level trace)>;

int replay(const Run& run, std::uint64_t seed, bool prints) {
    const Outcome outcome = run(seed, prints ? Trace::Level::print : Trace::Level::hash);
    for (const auto& violation : outcome.violations) fmt::print("VIOLATION {}\n", violation);
    fmt::print("seed {}: {} violations, {} records, trace {:016x}\n", seed, outcome.violations.size(),
               outcome.records, outcome.trace_hash);
    return outcome.violations.empty() ? 0 : 1;
}

/// Every seed twice: the same seed has to give the same trace.
int run_twice(const Run& run, std::uint64_t from, std::uint64_t count) {
    std::uint64_t differing = 0;
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        const auto first = run(seed, Trace::Level::hash).trace_hash;
        if (first == run(seed, Trace::Level::hash).trace_hash) continue;
        ++differing;
        fmt::print("seed {} gives two traces\n", seed);
    }
    fmt::print("{} seeds run twice, {} with two traces\n", count, differing);
    return differing == 0 ? 0 : 1;
}

int run_many(const Run& run, std::uint64_t from, std::uint64_t count, bool demands_coverage) {
    Tally tally;
    for (std::uint64_t seed = from; seed < from + count; ++seed)
        tally.add(seed, run(seed, Trace::Level::off));
    fmt::print("{}", tally.report());
    const auto missing = demands_coverage ? tally.missing() : std::vector<std::string>();
    for (const auto& what : missing) fmt::print("NOT COVERED {}\n", what);
    return tally.violations() == 0 && missing.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Runs the worker over a simulated world; every schedule follows from its seed.");
    std::uint64_t seed = 0;
    std::uint64_t from = 1;
    std::uint64_t count = 1000;
    bool trace = false;
    bool twice = false;
    bool coverage = false;
    const auto* one = app.add_option("--seed", seed, "run this schedule alone");
    app.add_flag("--trace", trace, "print what happens in it");
    app.add_option("--from", from, "first seed");
    app.add_option("--count", count, "how many");
    app.add_flag("--twice", twice, "run each seed twice and compare the traces");
    app.add_flag("--coverage", coverage, "fail when a fault or a crash point occurred too rarely");
    Run run = run_schedule;
    app.add_option_function<std::string>(
           "--outage",
           [&run](const std::string& name) {
               run = [outage = outage_called(name)](std::uint64_t one_seed, Trace::Level level) {
                   return run_outage(outage, one_seed, level);
               };
           },
           "instead of schedules, a three-hour outage with 500 open turns")
        ->check(CLI::IsMember({"relay", "kafka", "workers"}));
    app.add_flag_callback(
        "--catch-up", [&run] { run = run_catch_up; },
        "instead of schedules of what the topic tells, schedules of what it does not");
    app.add_flag_callback(
        "--follow", [&run] { run = run_follow; },
        "instead of schedules of workers, schedules of relays that follow an agent server's log");
    app.add_flag_callback(
        "--instruct", [&run] { run = run_instruct; },
        "instead of schedules of what happened, schedules of agents that are told to summarise it");
    app.add_option_function<std::string>(
           "--storm",
           [&run](const std::string& name) {
               run = [storm = storm_called(name)](std::uint64_t one_seed, Trace::Level level) {
                   return run_storm(storm, one_seed, level);
               };
           },
           "instead of schedules, 10,000 posts of a credential that is refused")
        ->check(CLI::IsMember({"rate", "credential"}));
    app.add_option_function<std::string>(
           "--platform-down",
           [&run](const std::string& name) {
               run = [down = down_called(name)](std::uint64_t one_seed, Trace::Level level) {
                   return run_platform_down(down, one_seed, level);
               };
           },
           "instead of schedules, a platform that is down for 25 minutes, or takes no posts")
        ->check(CLI::IsMember({"all", "read_only"}));
    CLI11_PARSE(app, argc, argv);
    if (one->count() > 0) return replay(run, seed, trace);
    return twice ? run_twice(run, from, count) : run_many(run, from, count, coverage);
}
