// [slack] of the configuration.
#pragma once

#include <map>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct SlackSection {
    std::string api_url = "https://slack.com/api";
    Secret token;  ///< of workspaces without one of their own; empty: their posts wait for one
    std::map<std::string, Secret> teams = {};  ///< team id -> token
    std::string budget = "auto";
    bool operator==(const SlackSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection slack_section();

}  // namespace epilogue
