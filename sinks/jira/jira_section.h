// [jira] of the configuration.
#pragma once

#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct JiraSection {
    std::string api_url;  ///< empty: none is set, its posts wait for one
    std::string email;    ///< of Jira Cloud's account; empty: the token is Data Center's
    Secret token;         ///< empty: its posts wait for one
    std::string budget = "auto";
    bool operator==(const JiraSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection jira_section();

}  // namespace epilogue
