// Signals as calls: blocked everywhere, taken by one thread.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace epilogue::cli {

/// Make it before any other thread: those that start later inherit the blocked signals.
class SignalWatch {
  public:
    /// Calls `on_signal` for each of `signals` that arrives, with its number, on a thread of its own.
    SignalWatch(std::initializer_list<int> signals, std::function<void(int)> on_signal);
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

  private:
    sigset_t signals_{};
    std::jthread thread_;
};

}  // namespace epilogue::cli
