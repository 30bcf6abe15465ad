// Whether the worker is ready, and what is missing when it is not: /readyz.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/io/log.h"

namespace epilogue {

/// Thread-safe.
class Readiness {
  public:
    /// `why` names what is missing of `component`; empty: nothing. Said in the log at most once in 10 s.
    void set(const std::string& component, const std::string& why) {
        bool mended = false;
        {
            const std::lock_guard lock(mutex_);
            if (why.empty())
                mended = missing_.erase(component) > 0;
            else
                missing_[component] = why;
        }
        if (!why.empty())
            complaints_.warn(component, "not ready", {{"component", component}, {"why", why}});
        else if (mended)
            log_info("ready again", {{"component", component}});
    }
    /// "component: why" lines; empty when ready.
    std::string missing() const {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (const auto& [component, why] : missing_) text += component + ": " + why + "\n";
        return text;
    }

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> missing_;
    EveryTenSeconds complaints_;
};

}  // namespace epilogue
