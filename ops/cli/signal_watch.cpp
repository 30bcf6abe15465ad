#include "ops/cli/signal_watch.h"

#include "base/thread_name.h"

namespace epilogue::cli {

SignalWatch::SignalWatch(std::initializer_list<int> signals, std::function<void(int)> on_signal) {
    sigemptyset(&signals_);
    for (const int signal : signals) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = named_thread("signals", [this, on_signal = std::move(on_signal)](const auto& over) {
        while (!over.stop_requested()) {
            constexpr timespec slice{0, 200'000'000};
            if (const int signal = sigtimedwait(&signals_, nullptr, &slice); signal > 0) on_signal(signal);
        }
    });
}

}  // namespace epilogue::cli
