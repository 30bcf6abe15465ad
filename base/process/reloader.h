// The configuration of a running process: read anew on SIGHUP, and when a secret's file has changed. What a
// running process can take of it is taken at once; of all other changes the log says that they need a
// restart. A configuration that is wrong changes nothing.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"

namespace epilogue {

/// What becomes of a configuration that was read again.
struct Reload {
    Config config;  ///< the one in use, with what a running process takes of the new one
    std::vector<std::string> need_restart;  ///< the sections with changes that it cannot take
};

/// Made of the configuration in use and of the new one.
using ReloadRule = std::function<Reload(const Config& now, const Config& next)>;

/// Thread-safe.
class Reloader {
  public:
    /// `load` reads the configuration, checked for use; called by run() and reload() alone.
    Reloader(const Config& first, std::function<Result<Config>()> load, ReloadRule rule);

    /// The settings in use. What is returned does not change.
    std::shared_ptr<const Config> current() const;
    /// Asks for a reload; returns at once.
    void request();
    /// Calls `apply` with the settings in use, now and after each reload, until it is replaced. Empty:
    /// nothing is called any more once this has returned.
    void on_reload(std::function<void(const Config&)> apply);

    /// Reloads when it is asked to, and looks at the secrets' files every few seconds, until `stop`.
    void run(const std::stop_token& stop);
    /// One reload, as run() does it. `why` is for the log.
    void reload(const std::string& why);

  private:
    const std::function<Result<Config>()> load_;
    const ReloadRule rule_;
    mutable std::mutex mutex_;
    std::condition_variable_any asked_;
    bool is_asked_ = false;
    std::shared_ptr<const Config> current_;
    std::mutex apply_mutex_;  ///< held while `apply_` is called
    std::function<void(const Config&)> apply_;
};

}  // namespace epilogue
