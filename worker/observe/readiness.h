// Whether the worker is ready, and what is missing when it is not: /readyz. An incident (what became of a
// partition's log) makes the worker unready for a minute, so that operators see it, and is listed as long as
// the worker runs.
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
    explicit Readiness(RateLimitedLog::Clock clock = &std::chrono::steady_clock::now)
        : clock_(std::move(clock)), warnings_(clock_) {}

    /// `why` names what is missing of `component`; empty: nothing is. Logged at most once in 10 s.
    void set(const std::string& component, const std::string& why) {
        if (!should_log(component, why)) return;
        if (why.empty())
            log_info("ready again", {{"component", component}});
        else
            warnings_.warn(component, "not ready", {{"component", component}, {"why", why}});
    }
    /// The component is missing from now on because the worker has just started; nothing is logged about it
    /// before that takes longer than a start does.
    void await(const std::string& component, const std::string& why) {
        const std::lock_guard lock(mutex_);
        missing_[component] = {why, clock_() + start_takes, false};
    }
    /// Something happened to `component` that operators should know of; replaces its earlier incident.
    void incident(const std::string& component, const std::string& what) {
        const std::lock_guard lock(mutex_);
        incidents_[component] = {what, clock_()};
    }
    /// "component: why" lines of what is missing and of the last minute's incidents; empty when ready.
    std::string missing() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [component, missing] : missing_) text += component + ": " + missing.why + "\n";
        const auto now = clock_();
        for (const auto& [component, incident] : incidents_)
            if (now - incident.at < unready_for) text += component + ": " + incident.what + "\n";
        return text;
    }
    /// "component: what" lines of all incidents.
    std::string history() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [component, incident] : incidents_) text += component + ": " + incident.what + "\n";
        return text;
    }

  private:
    static constexpr std::chrono::seconds unready_for{60};
    struct Incident {
        std::string what;
        std::chrono::steady_clock::time_point at;
    };
    struct Missing {
        std::string why;
        std::chrono::steady_clock::time_point quiet_until{};
        bool logged = false;
    };
    static constexpr std::chrono::seconds start_takes{5};

    /// Stores what is missing; returns whether the change is to be logged.
    bool should_log(const std::string& component, const std::string& why) {
        const std::lock_guard lock(mutex_);
        if (why.empty()) {
            const auto found = missing_.extract(component);
            return found && found.mapped().logged;
        }
        Missing& missing = missing_[component];
        missing.why = why;
        missing.logged = missing.logged || clock_() >= missing.quiet_until;
        return missing.logged;
    }

    const RateLimitedLog::Clock clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Missing> missing_;
    std::map<std::string, Incident> incidents_;
    RateLimitedLog warnings_;
};

}  // namespace epilogue
