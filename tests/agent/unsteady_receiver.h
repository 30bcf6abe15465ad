// What stands between an agent server and the relay that its webhooks are for, and lets through what it
// likes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "ops/fake_platform/http_server.h"

namespace epilogue::testing {

/// Thread-safe.
class UnsteadyReceiver {
  public:
    /// How it treats requests: so many of a hundred are refused with 500, and as many held for up to `slow`.
    struct Mood {
        int refused_percent = 0;
        int slow_percent = 0;
        std::chrono::milliseconds slow{0};
        bool is_down = false;  ///< connections end without an answer
    };

    /// Passes requests on to `relay`, a port on loopback.
    explicit UnsteadyReceiver(unsigned short relay);

    unsigned short port() const { return server_.port(); }
    void set(Mood mood);
    std::int64_t passed() const { return passed_; }
    std::int64_t refused() const { return refused_; }

  private:
    fake_platform::Reply answer(const fake_platform::Request& request);

    const unsigned short relay_;
    std::atomic<std::int64_t> passed_ = 0;
    std::atomic<std::int64_t> refused_ = 0;
    std::mutex mutex_;
    std::minstd_rand random_{1};
    Mood mood_;
    fake_platform::HttpServer server_;  ///< ends first
};

}  // namespace epilogue::testing
