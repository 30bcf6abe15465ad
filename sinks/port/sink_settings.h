// What a sink is made with.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/config_extensions.h"
#include "sinks/port/http_api.h"

namespace epilogue {

/// Takes one line without its end; false when it was not written. Called from any thread; must not throw.
using WriteLine = std::function<bool(const std::string&)>;

/// What all sinks share, and each one's section of the configuration (GithubSection, SlackSection, …).
/// Secrets are resolved: no `env:` or `file:` here.
struct SinkSettings {
    ConfigExtensions sections;
    std::string mac_key;                            ///< the first of [security] keys
    std::chrono::milliseconds http_timeout{20000};  ///< total, per call of a sink
    std::string version;                            ///< ours
    WriteLine write_log;                            ///< takes the lines of the `log` processor
    Transport transport = over_http();              ///< what their requests go through
};

}  // namespace epilogue
