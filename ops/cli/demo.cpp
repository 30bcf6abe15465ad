#include "ops/embedded_demo/demo.h"

#include <csignal>

#include <CLI/CLI.hpp>

#include "ops/cli/command.h"
#include "ops/cli/signal_watch.h"

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

void demo(const demo::DemoOptions& options) {
    require_mariadb();
    // A reader that goes away must not leave a database behind.
    std::signal(SIGPIPE, SIG_IGN);
    std::stop_source stop;
    const SignalWatch watch({SIGTERM, SIGINT, SIGHUP}, [&stop](int) { stop.request_stop(); });
    try {
        switch (demo::run_demo(options, stop.get_token())) {
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

}  // namespace

void add_demo(CLI::App& program) {
    auto* command = program.add_subcommand(
        "demo", "Show all of it at work: embedded, on recorded conversations, in half a minute");
    auto common = std::make_shared<Common>();
    auto options = std::make_shared<demo::DemoOptions>();
    add_common(*command, *common, false);  // accepted as everywhere, but the demo makes its own
    command->add_flag("--keep", options->keep,
                      "Leave everything running until Ctrl-C, and print the addresses");
    // For the tests of the demo itself: what the count is worth.
    command->add_flag("--suppress-one", options->faults.suppress_one)->group("");
    command->add_flag("--double-one", options->faults.double_one)->group("");
    command->callback([options] { demo(*options); });
}

}  // namespace epilogue::cli
