// epilogue-sim: runs schedules, prints what happened in them and which seeds broke a promise.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/sim/tally.h"
#include "tests/sim/world.h"

namespace {

using namespace epilogue::sim;

int replay(std::uint64_t seed, bool prints) {
    const Outcome outcome = run_schedule(seed, prints ? Trace::Level::print : Trace::Level::hash);
    for (const auto& violation : outcome.violations) fmt::print("VIOLATION {}\n", violation);
    fmt::print("seed {}: {} violations, {} records, trace {:016x}\n", seed, outcome.violations.size(),
               outcome.records, outcome.trace_hash);
    return outcome.violations.empty() ? 0 : 1;
}

/// Every seed twice: the same seed has to give the same trace.
int run_twice(std::uint64_t from, std::uint64_t count) {
    std::uint64_t differing = 0;
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        const auto first = run_schedule(seed, Trace::Level::hash).trace_hash;
        if (first == run_schedule(seed, Trace::Level::hash).trace_hash) continue;
        ++differing;
        fmt::print("seed {} gives two traces\n", seed);
    }
    fmt::print("{} seeds run twice, {} with two traces\n", count, differing);
    return differing == 0 ? 0 : 1;
}

int run_many(std::uint64_t from, std::uint64_t count, bool demands_coverage) {
    Tally tally;
    for (std::uint64_t seed = from; seed < from + count; ++seed)
        tally.add(seed, run_schedule(seed, Trace::Level::off));
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
    CLI11_PARSE(app, argc, argv);
    if (one->count() > 0) return replay(seed, trace);
    return twice ? run_twice(from, count) : run_many(from, count, coverage);
}
