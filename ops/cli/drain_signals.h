// The signals of a command that goes on until it is told to end and reads its configuration only at its
// start.
#pragma once

#include <stop_token>
#include <string>

#include "ops/cli/signal_watch.h"

namespace epilogue::cli {

/// SIGTERM and SIGINT ask for the end, and a second one ends the process at once, with 128 plus its number.
/// SIGHUP and SIGUSR1 are logged and change nothing. Make it before any other thread.
class DrainSignals {
  public:
    /// `command` is named in the log.
    explicit DrainSignals(std::string command);

    /// Its stop is requested by the first SIGTERM or SIGINT.
    std::stop_token told_to_end() const { return stop_.get_token(); }

  private:
    void on(int signal);

    const std::string command_;
    std::stop_source stop_;
    const SignalWatch watch_;  // the last: its thread calls on() while this is alive
};

}  // namespace epilogue::cli
