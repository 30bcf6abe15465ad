// What a sink is made with.
#pragma once

#include <string>

#include "base/config_extensions.h"

namespace epilogue {

/// What all sinks share, and each one's section of the configuration (GithubSection, SlackSection, …).
/// Secrets are resolved: no `env:` or `file:` here.
struct SinkSettings {
    ConfigExtensions sections;
    std::string mac_key;  ///< the first of [security] keys
    std::string version;  ///< ours
};

}  // namespace epilogue
