// Whether the worker is ready, and what is missing when it is not: /readyz. What happened to a log makes it
// unready for a minute, so that an operator looks, and is said as long as the worker runs.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/io/log.h"

namespace epilogue {

/// What /readyz calls a partition.
inline std::string partition_name(const std::string& topic, int partition) {
    return topic + " partition " + std::to_string(partition);
}

/// Thread-safe.
class Readiness {
  public:
    explicit Readiness(EveryTenSeconds::Clock clock = &std::chrono::steady_clock::now)
        : clock_(std::move(clock)), complaints_(clock_) {}

    /// `why` names what is missing of `component`; empty: nothing. Said in the log at most once in 10 s.
    void set(const std::string& component, const std::string& why) {
        if (!is_told(component, why)) return;
        if (why.empty())
            log_info("ready again", {{"component", component}});
        else
            complaints_.warn(component, "not ready", {{"component", component}, {"why", why}});
    }
    /// What every start waits for: missing from now on, but no word in the log about it before it has taken
    /// longer than a start does.
    void await(const std::string& component, const std::string& why) {
        const std::lock_guard lock(mutex_);
        missing_[component] = {why, clock_() + start_takes, false};
    }
    /// Something happened to `component` that operators should know of; what is said later of it wins.
    void happened(const std::string& component, const std::string& what) {
        const std::lock_guard lock(mutex_);
        happened_[component] = {what, clock_()};
    }
    /// "component: why" lines; empty when ready.
    std::string missing() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [component, missing] : missing_) text += component + ": " + missing.why + "\n";
        const auto now = clock_();
        for (const auto& [component, news] : happened_)
            if (now - news.at < alarm_for) text += component + ": " + news.what + "\n";
        return text;
    }
    /// "component: what" lines of all that happened.
    std::string history() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [component, news] : happened_) text += component + ": " + news.what + "\n";
        return text;
    }

  private:
    static constexpr std::chrono::seconds alarm_for{60};
    struct News {
        std::string what;
        std::chrono::steady_clock::time_point at;
    };
    struct Missing {
        std::string why;
        std::chrono::steady_clock::time_point quiet_until{};
        bool told = false;  ///< in the log
    };
    static constexpr std::chrono::seconds start_takes{5};

    /// Takes note of it; whether it is worth a line.
    bool is_told(const std::string& component, const std::string& why) {
        const std::lock_guard lock(mutex_);
        if (why.empty()) {
            const auto mended = missing_.extract(component);
            return mended && mended.mapped().told;
        }
        Missing& missing = missing_[component];
        missing.why = why;
        missing.told = missing.told || clock_() >= missing.quiet_until;
        return missing.told;
    }

    const EveryTenSeconds::Clock clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Missing> missing_;
    std::map<std::string, News> happened_;
    EveryTenSeconds complaints_;
};

}  // namespace epilogue
