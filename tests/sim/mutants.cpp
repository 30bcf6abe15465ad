// epilogue-sim-mutants: shows that the simulation sees a planted fault, and that without it the same seeds
// pass.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/mutant.h"
#include "sinks/port/sink_mutant.h"
#include "tests/sim/catch_up.h"
#include "tests/sim/chaos.h"
#include "tests/sim/follow.h"
#include "tests/sim/instruct.h"
#include "tests/sim/platform_down.h"
#include "tests/sim/storm.h"

namespace {

using namespace epilogue;
using namespace epilogue::sim;

constexpr std::array<std::pair<std::string_view, Mutant>, 43> mutants{{
    {"offset_before_state", Mutant::offset_before_state},
    {"ambiguous_commit_believed", Mutant::ambiguous_commit_believed},
    {"look_up_skipped", Mutant::look_up_skipped},
    {"look_up_error_read_as_absent", Mutant::look_up_error_read_as_absent},
    {"lease_ignored", Mutant::lease_ignored},
    {"settle_ignored", Mutant::settle_ignored},
    {"repeat_counted", Mutant::repeat_counted},
    {"timer_stepped_while_lagging", Mutant::timer_stepped_while_lagging},
    {"generation_inside_delivery_id", Mutant::generation_inside_delivery_id},
    {"late_registration_unlocked", Mutant::late_registration_unlocked},
    {"result_recorded_without_fence", Mutant::result_recorded_without_fence},
    {"dedup_switched_off", Mutant::dedup_switched_off},
    {"look_up_settle_ignored", Mutant::look_up_settle_ignored},
    {"closed_window_ignored", Mutant::closed_window_ignored},
    {"summary_frozen_twice", Mutant::summary_frozen_twice},
    {"known_events_missed", Mutant::known_events_missed},
    {"question_forgotten_before_answer", Mutant::question_forgotten_before_answer},
    {"disproved_silence_counted", Mutant::disproved_silence_counted},
    {"adoption_put_at_the_end", Mutant::adoption_put_at_the_end},
    {"stale_running_kept", Mutant::stale_running_kept},
    {"lost_running_believed", Mutant::lost_running_believed},
    {"gap_not_asked_about", Mutant::gap_not_asked_about},
    {"breaker_never_opens", Mutant::breaker_never_opens},
    {"lost_probe_not_repeated", Mutant::lost_probe_not_repeated},
    {"held_posts_let_go_at_once", Mutant::held_posts_let_go_at_once},
    {"asked_a_few_times_only", Mutant::asked_a_few_times_only},
    {"neighbours_held_up", Mutant::neighbours_held_up},
    {"goal_round_counted", Mutant::goal_round_counted},
    {"stop_hook_not_awaited", Mutant::stop_hook_not_awaited},
    {"run_over_ignored", Mutant::run_over_ignored},
    {"zone_not_learned", Mutant::zone_not_learned},
    {"clock_set_back_late", Mutant::clock_set_back_late},
    {"followed_before_acknowledged", Mutant::followed_before_acknowledged},
    {"followed_given_up_forgotten", Mutant::followed_given_up_forgotten},
    {"followed_end_not_held", Mutant::followed_end_not_held},
    {"followed_late_not_looked_for", Mutant::followed_late_not_looked_for},
    {"followed_beyond_memory", Mutant::followed_beyond_memory},
    {"followed_gap_given_up", Mutant::followed_gap_given_up},
    {"followed_own_place_skipped", Mutant::followed_own_place_skipped},
    {"instruction_not_looked_for", Mutant::instruction_not_looked_for},
    {"instruction_behind_another_turn", Mutant::instruction_behind_another_turn},
    {"instructed_end_counted", Mutant::instructed_end_counted},
    {"question_outlasts_lease", Mutant::question_outlasts_lease},
}};

constexpr std::array<std::pair<std::string_view, SinkMutant>, 6> sink_mutants{{
    {"look_up_window_late", SinkMutant::look_up_window_late},
    {"second_page_not_read", SinkMutant::second_page_not_read},
    {"slack_cursor_ignored", SinkMutant::slack_cursor_ignored},
    {"author_not_compared", SinkMutant::author_not_compared},
    {"youngest_post_kept", SinkMutant::youngest_post_kept},
    {"waiting_time_halved", SinkMutant::waiting_time_halved},
}};

/// One fault, of the worker or of a sink.
struct Planted {
    Mutant worker = Mutant::none;
    SinkMutant sink = SinkMutant::none;
};

void plant(Planted planted) {
    planted_mutant = planted.worker;
    planted_sink_mutant = planted.sink;
}

/// A schedule, unless the fault shows in another scenario only.
Outcome run(Planted shown, std::uint64_t seed, Trace::Level trace) {
    if (shown.sink == SinkMutant::waiting_time_halved) return run_storm(Storm::rate, seed, trace);
    switch (shown.worker) {
        case Mutant::closed_window_ignored:
            return run_storm(Storm::rate, seed, trace);
        case Mutant::breaker_never_opens:
        case Mutant::lost_probe_not_repeated:
        case Mutant::held_posts_let_go_at_once:
            return run_platform_down(Down::all, seed, trace);
        case Mutant::known_events_missed:
        case Mutant::question_forgotten_before_answer:
        case Mutant::disproved_silence_counted:
        case Mutant::adoption_put_at_the_end:
        case Mutant::gap_not_asked_about:
        case Mutant::asked_a_few_times_only:
        case Mutant::neighbours_held_up:
            return run_catch_up(seed, trace);
        case Mutant::followed_before_acknowledged:
        case Mutant::followed_given_up_forgotten:
        case Mutant::followed_end_not_held:
        case Mutant::followed_late_not_looked_for:
        case Mutant::followed_beyond_memory:
        case Mutant::followed_gap_given_up:
        case Mutant::followed_own_place_skipped:
            return run_follow(seed, trace);
        case Mutant::instruction_not_looked_for:
        case Mutant::instruction_behind_another_turn:
        case Mutant::instructed_end_counted:
        case Mutant::question_outlasts_lease:
            return run_instruct(seed, trace);
        default:
            return run_schedule(seed, trace);
    }
}

struct Caught {
    std::uint64_t seed = 0;
    std::string violation;
};

/// The first of `count` seeds of the scenario for `shown` that breaks a promise with `planted` in the
/// product.
std::optional<Caught> first_violation(Planted shown, Planted planted, std::uint64_t count) {
    plant(planted);
    for (std::uint64_t seed = 1; seed <= count; ++seed)
        if (const Outcome outcome = run(shown, seed, Trace::Level::off); !outcome.violations.empty())
            return Caught{seed, outcome.violations.front()};
    return std::nullopt;
}

bool is_caught(std::string_view name, Planted mutant, std::uint64_t count) {
    const auto caught = first_violation(mutant, mutant, count);
    if (!caught) {
        fmt::print("{}: NOT CAUGHT by {} seeds\n", name, count);
        return false;
    }
    const auto innocent = first_violation(mutant, {}, caught->seed);
    fmt::print("{}: caught by seed {}: {}; without it the same seeds {}\n", name, caught->seed,
               caught->violation, innocent ? "FAIL too" : "pass");
    return !innocent;
}

int replay(Planted mutant, std::uint64_t seed) {
    plant(mutant);
    return run(mutant, seed, Trace::Level::print).violations.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Runs the simulation on a product with a planted fault, until it is caught.");
    std::string wanted = "all";
    std::uint64_t count = 100000;
    std::uint64_t seed = 0;
    app.add_option("--mutant", wanted, "which fault, or all");
    app.add_option("--count", count, "how many seeds it may take");
    app.add_option("--seed", seed, "print the trace of this seed instead");
    CLI11_PARSE(app, argc, argv);
    std::vector<std::pair<std::string_view, Planted>> every;
    for (const auto& [name, mutant] : mutants) every.push_back({name, {.worker = mutant}});
    for (const auto& [name, mutant] : sink_mutants) every.push_back({name, {.sink = mutant}});
    bool all = true;
    bool known = false;
    for (const auto& [name, mutant] : every) {
        if (wanted != "all" && wanted != name) continue;
        known = true;
        if (seed > 0) return replay(mutant, seed);
        all = is_caught(name, mutant, count) && all;
    }
    return all && known ? 0 : 1;
}
