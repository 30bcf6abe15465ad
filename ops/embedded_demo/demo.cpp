#include "ops/embedded_demo/demo.h"

#include <chrono>

#include <fmt/format.h>

#include "base/process/programs.h"
#include "base/stoppable_wait.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/report.h"
#include "ops/embedded_demo/scenario.h"
#include "ops/embedded_demo/terminal.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;

/// From the first line to the table. It takes half a minute; more only on a busy machine.
constexpr auto longest_run = 120s;

std::size_t turns_of(const std::vector<Scenario>& scenarios) {
    std::size_t turns = 0;
    for (const Scenario& scenario : scenarios) turns += scenario.turns.size();
    return turns;
}

void say_what_comes(Terminal& terminal, const std::vector<Scenario>& scenarios) {
    const std::string what = fmt::format(
        "{} conversations with OpenHands agents, recorded from real servers, are played again. They end {} "
        "times, and each end becomes one post where somebody asked for it, on GitHub, GitLab or Slack: with "
        "a "
        "summary, in the right thread, and once.",
        scenarios.size(), turns_of(scenarios));
    const std::string where =
        "Broker, database, two workers and the three platforms (a stand-in) run on this machine alone, and "
        "leave nothing behind.";
    for (const std::string& line : wrapped(what, terminal.width()))
        terminal.say(terminal.painted(Paint::bold, line));
    for (const std::string& line : wrapped(where, terminal.width())) terminal.say(line);
    terminal.say("");
}

}  // namespace

std::vector<std::string> missing_for_demo() {
    return process::missing_programs(process::maria_programs());
}

DemoEnd run_demo(const DemoOptions& options, const std::stop_token& stop) {
    const auto began = std::chrono::steady_clock::now();
    Terminal terminal;
    auto scenarios = demo_scenarios();
    say_what_comes(terminal, scenarios);
    const auto progress = [&](const std::string& what) { terminal.progress("… " + what); };
    DemoEnvironment environment(progress);
    environment.open_threads(scenarios);
    DemoRunner runner(environment, terminal, scenarios, options.faults);
    progress("waiting until two workers have shared the topic");
    environment.start_workers(stop);
    runner.run(began + longest_run, stop);
    if (stop.stop_requested()) return DemoEnd::interrupted;
    const Verifier verifier = runner.count();
    say_table(terminal, scenarios.size(), verifier);
    if (!verifier.is_good()) say_end_of_log(terminal, environment);
    if (verifier.is_good() && !options.keep)
        terminal.say("To look around in all of it: epilogue demo --keep");
    if (options.keep) {
        say_addresses(terminal, environment);
        wait_for_stop(stop);
    }
    progress("ending the workers and the database");
    return verifier.is_good() ? DemoEnd::good : DemoEnd::bad;
}

}  // namespace epilogue::demo
