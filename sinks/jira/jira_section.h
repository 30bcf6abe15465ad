// [jira] of the configuration.
#pragma once

#include <map>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

/// One site.
struct JiraSiteSection {
    std::string api_url;  ///< empty: none is set, its posts wait for one
    std::string email;    ///< of Jira Cloud's account; empty: the token is Data Center's
    Secret token;         ///< empty: its posts wait for one
    bool operator==(const JiraSiteSection&) const = default;
};

struct JiraSection {
    JiraSiteSection usual;  ///< of rows that name no site
    std::map<std::string, JiraSiteSection> sites;
    std::string budget = "auto";
    bool operator==(const JiraSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection jira_section();

}  // namespace epilogue
