// [gitlab] of the configuration.
#pragma once

#include <map>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct GitlabSection {
    std::string api_url = "https://gitlab.com/api/v4";
    Secret token;  ///< of projects without one of their own; empty: their posts wait for one
    std::string budget = "auto";
    std::map<std::string, Secret> namespaces = {};  ///< path of a group or project -> token
    bool operator==(const GitlabSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection gitlab_section();

}  // namespace epilogue
