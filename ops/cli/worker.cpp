#include "worker/worker.h"

#include <csignal>
#include <thread>

#include <CLI/CLI.hpp>

#include "base/io/log.h"
#include "ops/cli/command.h"

namespace epilogue::cli {
namespace {

/// Waits for SIGTERM or SIGINT: the first asks `stop` to drain, a second ends the process at once.
class SignalWatch {
  public:
    explicit SignalWatch(std::stop_source& stop) {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGTERM);
        sigaddset(&signals_, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals_,
                        nullptr);  // inherited by every thread that is started from here on
        thread_ = std::jthread([this, &stop](const std::stop_token& over) {
            int seen = 0;
            while (!over.stop_requested()) {
                constexpr timespec slice{0, 200'000'000};
                const int signal = sigtimedwait(&signals_, nullptr, &slice);
                if (signal != SIGTERM && signal != SIGINT) continue;
                if (++seen > 1) std::_Exit(128 + signal);
                log_info("draining; a second signal ends at once");
                stop.request_stop();
            }
        });
    }

  private:
    sigset_t signals_{};
    std::jthread thread_;
};

}  // namespace

void add_worker(CLI::App& program) {
    auto* command = program.add_subcommand(
        "worker", "Consume, decide, store, summarise and post until SIGTERM or SIGINT");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);
    command->callback([common] {
        const Config config = load(*common);
        std::stop_source stop;
        const SignalWatch watch(stop);
        if (const auto ran = run_worker(config, stop.get_token()); !ran)
            throw Exit{configuration, ran.error().text};
    });
}

}  // namespace epilogue::cli
