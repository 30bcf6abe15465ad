// [gitlab] of the configuration.
#pragma once

#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct GitlabSection {
    std::string api_url = "https://gitlab.com/api/v4";
    Secret token;  ///< empty: its posts wait for one
    std::string budget = "auto";
    bool operator==(const GitlabSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection gitlab_section();

}  // namespace epilogue
