#include "ops/cli/drain_signals.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/io/log.h"

namespace epilogue::cli {

DrainSignals::DrainSignals(std::string command)
    : command_(std::move(command)),
      watch_({SIGTERM, SIGINT, SIGHUP, SIGUSR1}, [this](int signal) { on(signal); }) {}

void DrainSignals::on(int signal) {
    if (signal == SIGHUP)
        return log_warn("SIGHUP is ignored: this command reads its configuration only when it starts",
                        {{"command", command_}});
    if (signal == SIGUSR1) return log_info("SIGUSR1 is ignored", {{"command", command_}});
    if (stop_.stop_requested()) std::_Exit(128 + signal);
    log_info("draining; a second signal ends at once");
    stop_.request_stop();
}

}  // namespace epilogue::cli
