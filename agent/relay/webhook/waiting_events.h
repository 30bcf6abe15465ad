// Events of requests that are being worked on: how many, and since when.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

namespace epilogue::relay {

/// Thread-safe.
class WaitingEvents {
  public:
    using Clock = std::chrono::steady_clock;

    struct Seen {
        std::size_t events = 0;
        std::chrono::duration<double> longest{0};  ///< that one of them has waited
    };

    /// So many events wait as long as what is returned lives, which has to be shorter than this.
    std::shared_ptr<void> add(std::size_t events) {
        const std::lock_guard lock(mutex_);
        events_ += events;
        const auto place = since_.insert(Clock::now());
        return {nullptr, [this, events, place](void*) {
                    const std::lock_guard gone(mutex_);
                    events_ -= events;
                    since_.erase(place);
                }};
    }
    Seen seen() const {
        const std::lock_guard lock(mutex_);
        if (since_.empty()) return {};
        return {events_, Clock::now() - *since_.begin()};
    }

  private:
    mutable std::mutex mutex_;
    std::size_t events_ = 0;
    std::multiset<Clock::time_point> since_;
};

}  // namespace epilogue::relay
