// Spares a server the logs that it cannot read: it answers 500 after seconds of work in its only event loop,
// and all callers wait meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "agent/error.h"

namespace epilogue::agent {

/// One server's logs. A log that failed with 500 is asked for again after a pause that grows with each
/// failure and with the time that the server took, up to 10 minutes; and only one such log at a time. All
/// others are free. Thread-safe.
class LogGate {
  public:
    using Clock = std::chrono::steady_clock;

    /// `first_pause`: after the first failure of a log that the server took no time for. `now`: the time, for
    /// tests.
    explicit LogGate(std::chrono::milliseconds first_pause,
                     std::function<Clock::time_point()> now = Clock::now)
        : first_pause_(first_pause), now_(std::move(now)) {}

    /// Has `read` make one reading of that conversation's log and returns what it came to; the error of a log
    /// that the server cannot read says with retry_after how long it is left alone. Without asking: that
    /// error again while the pause lasts, or `overloaded` while another such log is being read.
    template <class Result, class Read>
    Result pass(const std::string& conversation, Read read) {
        const auto place = enter(conversation);
        if (!place) return AgentFailure(place.error());
        Result result = read();
        leave(conversation, *place, result ? nullptr : &result.error());
        return result;
    }

    /// Whether a log that failed lately is not to be forgotten yet: its pause goes on, or would grow with the
    /// next failure.
    bool spares_any() const;

  private:
    struct Trouble {
        int failures = 0;
        Clock::time_point due{};
        std::string reason;
    };
    /// A reading under way.
    struct Place {
        Clock::time_point since;
        bool troubled = false;
    };

    AgentResult<Place> enter(const std::string& conversation);
    void leave(const std::string& conversation, const Place& place, AgentError* error);

    const std::chrono::milliseconds first_pause_;
    const std::function<Clock::time_point()> now_;
    mutable std::mutex mutex_;
    bool busy_ = false;  ///< with a log that failed before
    std::map<std::string, Trouble> troubles_;
};

}  // namespace epilogue::agent
