// For how long events have been waiting that a server has and the topic has not. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace epilogue::relay {

class Lag {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// It is `now` known that the server has so many events and the topic the first `in_topic` of them.
    void note(std::int64_t in_server, std::int64_t in_topic, Time now);
    /// For how long the oldest event that waits has been known; 0: none waits.
    std::chrono::milliseconds at(Time now) const;
    /// Since when it is known; nullopt: none waits.
    std::optional<Time> since() const;

  private:
    /// The server had so many events when it was asked then.
    struct Known {
        std::int64_t count = 0;
        Time since;
    };
    static constexpr std::size_t most = 64;

    std::deque<Known> known_;
    std::int64_t in_topic_ = 0;
};

}  // namespace epilogue::relay
