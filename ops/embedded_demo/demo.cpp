#include "ops/embedded_demo/demo.h"

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "base/process/programs.h"
#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/scenario.h"

namespace epilogue::embedded {
namespace {

using namespace std::chrono_literals;

/// From the first line to the table. It takes half a minute; only where the machine has other work more.
constexpr auto whole_play = 120s;

std::size_t turns_of(const std::vector<Story>& stories) {
    std::size_t turns = 0;
    for (const Story& story : stories) turns += story.turns.size();
    return turns;
}

void say_what_comes(Screen& screen, const std::vector<Story>& stories) {
    const std::string what = fmt::format(
        "{} conversations with OpenHands agents, recorded from real servers, are played again. They end {} "
        "times, and each end becomes one post where somebody asked for it, on GitHub, GitLab or Slack: with "
        "a "
        "summary, in the right thread, and once.",
        stories.size(), turns_of(stories));
    const std::string where =
        "Broker, database, two workers and the three platforms (a stand-in) run on this machine alone, and "
        "leave nothing behind.";
    for (const std::string& line : wrapped(what, screen.width()))
        screen.say(screen.painted(Paint::bold, line));
    for (const std::string& line : wrapped(where, screen.width())) screen.say(line);
    screen.say("");
}

void say_table(Screen& screen, const std::vector<Story>& stories, const Audit& audit, bool keeps) {
    const auto lost = audit.lost();
    const auto too_many = audit.duplicates().size();
    screen.say(screen.painted(Paint::bold, fmt::format("{:>13} {:>7} {:>7} {:>12} {:>6}", "conversations",
                                                       "turns", "posts", "duplicates", "lost")));
    screen.say(fmt::format(
        "{:>13} {:>7} {:>7} {} {}\n", stories.size(), audit.turns(), audit.posts(),
        screen.painted(too_many > 0 ? Paint::bad : Paint::good, fmt::format("{:>12}", too_many)),
        screen.painted(lost.empty() ? Paint::good : Paint::bad, fmt::format("{:>6}", lost.size()))));
    const auto complain = [&](const char* what, const std::vector<std::string>& lines) {
        for (const std::string& line : lines) screen.say(screen.painted(Paint::bad, what) + line);
    };
    complain("lost: ", lost);
    complain("duplicate: ", audit.duplicates());
    complain("unexpected: ", audit.strangers());
    if (audit.is_good())
        screen.say(screen.painted(Paint::good, "Every ending was told, and none was told twice."));
    if (audit.is_good() && !keeps) screen.say("To look around in all of it: epilogue demo --keep");
}

/// The newest lines of the log: it goes away with the stage.
void say_end_of_log(Screen& screen, const Stage& stage) {
    constexpr std::size_t shown = 10;
    std::ifstream file(stage.log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (lines.size() == shown) lines.erase(lines.begin());
        lines.push_back(line);
    }
    if (!lines.empty()) screen.say("\nThe last lines of the workers' log:");
    for (const std::string& line : lines) screen.say("  " + line);
}

void keep_running(Screen& screen, const Stage& stage, StandIn& platform, const std::stop_token& stop) {
    const auto& config = stage.config();
    screen.say(
        fmt::format("\nEverything goes on running until Ctrl-C.\n"
                    "  broker     {}, topic {}\n"
                    "  database   socket {}, user {}, database {}\n"
                    "  GitHub     {}, a stand-in, as the next two\n"
                    "  GitLab     {}\n"
                    "  Slack      {}\n"
                    "             {} shows what is posted",
                    config.kafka.brokers, config.kafka.topic, config.database.socket, config.database.user,
                    config.database.name, config.github.api_url, config.gitlab.api_url, config.slack.api_url,
                    platform.url("/_control/visible")));
    for (const std::string& endpoint : stage.workers())
        screen.say(fmt::format("  worker     http://{}/metrics, /readyz, /healthz", endpoint));
    screen.say(
        fmt::format("  log        {}\nTry:\n"
                    "  epilogue callbacks list --config {}\n"
                    "  epilogue deliveries list --config {}",
                    stage.log_file().string(), stage.config_file().string(), stage.config_file().string()));
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
    Screen screen;
    auto stories = programme();
    say_what_comes(screen, stories);
    const auto progress = [&](const std::string& what) { screen.progress("… " + what); };
    Stage stage(progress);
    stage.open_threads(stories);
    Play play(stage, screen, stories, options.mischief);
    progress("waiting until two workers have shared the topic");
    stage.start_workers(stop);
    play.run(began + whole_play, stop);
    if (stop.stop_requested()) return DemoEnd::interrupted;
    const Audit audit = play.count();
    say_table(screen, stories, audit, options.keep);
    if (!audit.is_good()) say_end_of_log(screen, stage);
    if (options.keep) keep_running(screen, stage, stage.platform(), stop);
    progress("ending the workers and the database");
    return audit.is_good() ? DemoEnd::good : DemoEnd::bad;
}

}  // namespace epilogue::embedded
