// What a sink is made with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/config_extensions.h"
#include "base/egress.h"
#include "base/instant.h"

namespace epilogue {

/// What all sinks share, and each one's section of the configuration (GithubSection, SlackSection, …).
/// Secrets are resolved: no `env:` or `file:` here.
struct SinkSettings {
    ConfigExtensions sections;
    std::string mac_key;  ///< the first of [security] keys
    std::string version;  ///< ours
    std::shared_ptr<const EgressRules> egress = std::make_shared<EgressRules>();  ///< of addresses in rows
    std::function<Instant()> now = system_now;  ///< what tokens that end and signatures go by
};

}  // namespace epilogue
