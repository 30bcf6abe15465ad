// [github] of the configuration.
#pragma once

#include <cstdint>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct GithubSection {
    std::string api_url = "https://api.github.com";
    Secret token;  ///< neither this nor an App: its posts wait
    std::string budget = "auto";
    std::int64_t app_id = 0;  ///< of a GitHub App, instead of the token; 0: none
    Secret private_key = {};  ///< the App's, as PEM
    bool operator==(const GithubSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection github_section();

}  // namespace epilogue
