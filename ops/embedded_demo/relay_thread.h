// `epilogue relay` on a thread of the demo.
#pragma once

#include <mutex>
#include <string>
#include <thread>

#include "base/config.h"

namespace epilogue::demo {

/// Used by one thread.
class RelayThread {
  public:
    /// Starts it. Keeps a reference to the configuration.
    explicit RelayThread(const Config& config);
    /// Has it answer what is under way, and ends it.
    ~RelayThread() = default;
    RelayThread(const RelayThread&) = delete;
    RelayThread& operator=(const RelayThread&) = delete;

    std::string url() const;
    /// Whether its port answers.
    bool answers() const;
    /// Why it ended before it was asked to; empty: it has not.
    std::string trouble() const;

  private:
    const Config& config_;
    mutable std::mutex mutex_;  // guards trouble_
    std::string trouble_;
    std::jthread thread_;  ///< ends first
};

}  // namespace epilogue::demo
