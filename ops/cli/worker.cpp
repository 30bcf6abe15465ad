#include "worker/worker.h"

#include <CLI/CLI.hpp>

#include "base/io/log.h"
#include "ops/cli/command.h"
#include "ops/cli/signal_watch.h"

namespace epilogue::cli {

void add_worker(CLI::App& program) {
    auto* command = program.add_subcommand(
        "worker", "Consume, decide, store, summarise and post until SIGTERM or SIGINT");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);
    command->callback([common] {
        const Config config = load(*common);
        std::stop_source stop;
        const SignalWatch watch({SIGTERM, SIGINT}, [&stop](int signal) {
            if (stop.stop_requested()) std::_Exit(128 + signal);
            log_info("draining; a second signal ends at once");
            stop.request_stop();
        });
        if (const auto ran = run_worker(config, stop.get_token()); !ran)
            throw Exit{configuration, ran.error().text};
    });
}

}  // namespace epilogue::cli
