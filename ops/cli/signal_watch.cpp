#include "ops/cli/signal_watch.h"

#include "base/thread_name.h"

namespace epilogue::cli {

SignalWatch::SignalWatch(std::initializer_list<int> signals, std::function<void(int)> on_signal) {
    sigemptyset(&signals_);
    for (const int signal : signals) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    const int any = *signals.begin();
    thread_ = named_thread("signals", [this, any, on_signal = std::move(on_signal)](const auto& over) {
        // The end of the watch is a signal, too, sent to this thread alone.
        const std::stop_callback wake(over, [any, self = pthread_self()] { pthread_kill(self, any); });
        while (!over.stop_requested())
            if (const int signal = sigwaitinfo(&signals_, nullptr); signal > 0 && !over.stop_requested())
                on_signal(signal);
    });
}

}  // namespace epilogue::cli
