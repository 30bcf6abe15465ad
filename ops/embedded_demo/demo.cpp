#include "ops/embedded_demo/demo.h"

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "base/process/programs.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/scenario.h"
#include "ops/embedded_demo/terminal.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/slack/slack_section.h"

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

void say_table(Terminal& terminal, const std::vector<Scenario>& scenarios, const Verifier& verifier,
               bool keeps) {
    const auto lost = verifier.lost();
    const auto too_many = verifier.duplicates().size();
    terminal.say(terminal.painted(Paint::bold, fmt::format("{:>13} {:>7} {:>7} {:>12} {:>6}", "conversations",
                                                           "turns", "posts", "duplicates", "lost")));
    terminal.say(fmt::format(
        "{:>13} {:>7} {:>7} {} {}\n", scenarios.size(), verifier.turns(), verifier.posts(),
        terminal.painted(too_many > 0 ? Paint::bad : Paint::good, fmt::format("{:>12}", too_many)),
        terminal.painted(lost.empty() ? Paint::good : Paint::bad, fmt::format("{:>6}", lost.size()))));
    const auto complain = [&](const char* what, const std::vector<std::string>& lines) {
        for (const std::string& line : lines) terminal.say(terminal.painted(Paint::bad, what) + line);
    };
    complain("lost: ", lost);
    complain("duplicate: ", verifier.duplicates());
    complain("unexpected: ", verifier.unexpected());
    if (verifier.is_good())
        terminal.say(terminal.painted(Paint::good, "Every ending was told, and none was told twice."));
    if (verifier.is_good() && !keeps) terminal.say("To look around in all of it: epilogue demo --keep");
}

/// The newest lines of the log, which is removed with the environment.
void say_end_of_log(Terminal& terminal, const DemoEnvironment& environment) {
    constexpr std::size_t shown = 10;
    std::ifstream file(environment.log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (lines.size() == shown) lines.erase(lines.begin());
        lines.push_back(line);
    }
    if (!lines.empty()) terminal.say("\nThe last lines of the workers' log:");
    for (const std::string& line : lines) terminal.say("  " + line);
}

void keep_running(Terminal& terminal, const DemoEnvironment& environment, FakePlatformServer& platform,
                  const std::stop_token& stop) {
    const auto& config = environment.config();
    terminal.say(
        fmt::format("\nEverything goes on running until Ctrl-C.\n"
                    "  broker     {}, topic {}\n"
                    "  database   socket {}, user {}, database {}\n"
                    "  GitHub     {}, a stand-in, as the next two\n"
                    "  GitLab     {}\n"
                    "  Slack      {}\n"
                    "             {} shows what is posted",
                    config.kafka.brokers, config.kafka.topic, config.database.socket, config.database.user,
                    config.database.name, config.extensions.get<GithubSection>().api_url,
                    config.extensions.get<GitlabSection>().api_url,
                    config.extensions.get<SlackSection>().api_url, platform.url("/_control/visible")));
    for (const std::string& endpoint : environment.workers())
        terminal.say(fmt::format("  worker     http://{}/metrics, /readyz, /healthz", endpoint));
    terminal.say(
        fmt::format("  log        {}\nTry:\n"
                    "  epilogue callbacks list --config {}\n"
                    "  epilogue deliveries list --config {}",
                    environment.log_file().string(), environment.config_file().string(),
                    environment.config_file().string()));
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
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
    say_table(terminal, scenarios, verifier, options.keep);
    if (!verifier.is_good()) say_end_of_log(terminal, environment);
    if (options.keep) keep_running(terminal, environment, environment.platform(), stop);
    progress("ending the workers and the database");
    return verifier.is_good() ? DemoEnd::good : DemoEnd::bad;
}

}  // namespace epilogue::demo
