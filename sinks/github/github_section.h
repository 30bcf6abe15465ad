// [github] of the configuration.
#pragma once

#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct GithubSection {
    std::string api_url = "https://api.github.com";
    Secret token;  ///< empty: its posts wait for one
    std::string budget = "auto";
    bool operator==(const GithubSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection github_section();

}  // namespace epilogue
