#include "ops/embedded_demo/demo.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "ops/agent_server/launch.h"
#include "ops/cli/command.h"
#include "ops/cli/signal_watch.h"
#include "ops/embedded_demo/real_demo.h"

namespace epilogue::cli {
namespace {

constexpr const char* packages = "mariadb-server-core mariadb-client-core";

void require_mariadb() {
    std::string missing;
    for (const std::string& program : demo::missing_for_demo())
        missing += (missing.empty() ? "" : ", ") + program;
    if (missing.empty()) return;
    throw Exit{unavailable,
               "the demo starts a private MariaDB, and these programs are missing: " + missing +
                   "\nInstall them (no service is started), then try again:\n\n  apt-get install " +
                   packages + "\n"};
}

/// Where the agent server is that --real starts; `wanted` is the option's, empty: not given.
std::filesystem::path require_agent_server(const std::string& wanted) {
    const std::string version(agent_server::usual_version());
    const std::filesystem::path environment =
        wanted.empty() ? agent_server::usual_environment(version) : std::filesystem::absolute(wanted);
    if (std::filesystem::exists(agent_server::program_in(environment)) &&
        std::filesystem::exists(environment / "bin" / "python"))
        return environment;
    throw Exit{
        unavailable,
        "the demo with --real starts an OpenHands agent server, and there is none in the Python "
        "environment " +
            environment.string() +
            "\nFrom a clone of Epilogue, this gets it and starts the demo:\n\n  ops/demo --real\n\n"
            "By hand, with Python 3.12 or newer:\n\n  python3.12 -m venv FOLDER\n  FOLDER/bin/pip install "
            "openhands-agent-server==" +
            version + " openhands-tools==" + version + "\n  epilogue demo --real --agent-server FOLDER\n"};
}

/// Runs `play` until it ends or a signal asks for the end.
void play_demo(const std::function<demo::DemoEnd(const std::stop_token&)>& play) {
    // A reader that goes away must not leave a database behind.
    std::signal(SIGPIPE, SIG_IGN);
    std::stop_source stop;
    const SignalWatch watch({SIGTERM, SIGINT, SIGHUP}, [&stop](int) { stop.request_stop(); });
    try {
        switch (play(stop.get_token())) {
            case demo::DemoEnd::good:
                return;
            case demo::DemoEnd::bad:
                throw Exit{failed, ""};
            case demo::DemoEnd::interrupted:
                throw Exit{failed, "the demo was interrupted"};
        }
    } catch (const std::runtime_error& error) {
        throw Exit{failed, std::string("the demo cannot go on: ") + error.what()};
    }
}

struct DemoCommand {
    demo::DemoOptions options;
    bool real = false;
    std::string agent_server;
};

void run(const DemoCommand& command) {
    require_mariadb();
    if (!command.real)
        return play_demo([&](const auto& stop) { return demo::run_demo(command.options, stop); });
    const demo::RealDemoOptions options{require_agent_server(command.agent_server), command.options.keep};
    play_demo([&](const auto& stop) { return demo::run_real_demo(options, stop); });
}

}  // namespace

void add_demo(CLI::App& program) {
    auto* command = program.add_subcommand(
        "demo",
        "Show all of it at work: embedded, on recorded conversations or a real agent, in less than a minute");
    auto common = std::make_shared<Common>();
    auto given = std::make_shared<DemoCommand>();
    add_common(*command, *common, false);  // accepted as everywhere, but the demo makes its own
    command->add_flag("--keep", given->options.keep,
                      "Leave everything running until Ctrl-C, and print the addresses");
    auto* real =
        command->add_flag("--real", given->real,
                          "A real agent server with a scripted language model, and a relay, instead of "
                          "recordings");
    command
        ->add_option("--agent-server", given->agent_server,
                     "With --real: the Python environment that has it; ops/demo --real makes the default one")
        ->type_name("FOLDER")
        ->needs(real);
    // For the tests of the demo itself: what the count is worth.
    command->add_flag("--suppress-one", given->options.faults.suppress_one)->group("")->excludes(real);
    command->add_flag("--double-one", given->options.faults.double_one)->group("")->excludes(real);
    command->callback([given] { run(*given); });
}

}  // namespace epilogue::cli
