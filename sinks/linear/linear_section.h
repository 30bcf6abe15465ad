// [linear] of the configuration.
#pragma once

#include <map>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct LinearSection {
    std::string api_url = "https://api.linear.app/graphql";
    Secret token;  ///< of workspaces without one of their own; empty: their posts wait for one
    std::map<std::string, Secret> workspaces = {};  ///< what rows call the workspace -> token
    std::string budget = "auto";
    bool operator==(const LinearSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection linear_section();

}  // namespace epilogue
