// Virtual time: one queue of events ordered by (time, sequence), and the trace of what happened.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/instant.h"
#include "tests/sim/faults.h"

namespace epilogue::sim {

/// Readable lines, and a hash over them.
class Trace {
  public:
    enum class Level { off, hash, print };
    explicit Trace(Level level) : level_(level) {}

    bool on() const { return level_ != Level::off; }
    void line(Micros at, std::string_view text);
    std::uint64_t hash() const { return hash_; }

  private:
    Level level_;
    std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

/// What every part of a schedule shares.
class Schedule {
  public:
    Schedule(std::uint64_t seed, Trace::Level level) : random(seed), faults(random.fork()), trace(level) {}

    Micros now() const { return now_; }
    void at(Micros when, std::function<void()> what);
    void after(Micros delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }
    /// Lets the next event happen, unless none is left at or before `until`.
    bool step(Micros until);
    std::int64_t steps() const { return steps_; }

    template <class... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        if (trace.on()) trace.line(now_, fmt::format(format, std::forward<Values>(values)...));
    }

    Random random;
    Faults faults;
    Trace trace;

  private:
    struct Event {
        Micros when;
        std::uint64_t sequence;
        std::function<void()> what;
    };
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
        }
    };

    Micros now_{0};
    std::uint64_t sequence_ = 0;
    std::int64_t steps_ = 0;
    std::vector<Event> queue_;  ///< a heap: std::priority_queue does not let its top be moved out
};

}  // namespace epilogue::sim
