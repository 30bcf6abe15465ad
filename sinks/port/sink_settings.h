// What a sink is made with.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "sinks/port/http_api.h"

namespace epilogue {

/// Takes one line without its end. Called from any thread; must not throw.
using WriteLine = std::function<void(const std::string&)>;

/// What the sinks need to know, from the configuration. Secrets are resolved: no `env:` or `file:` here.
struct SinkSettings {
    std::string github_api_url = "https://api.github.com";
    std::string github_token;  ///< may be empty: its posts then wait for one
    std::string github_budget = "auto";
    std::string gitlab_api_url = "https://gitlab.com/api/v4";
    std::string gitlab_token;
    std::string gitlab_budget = "auto";
    std::string slack_api_url = "https://slack.com/api";
    std::string slack_token;
    std::string slack_budget = "auto";
    std::map<std::string, std::string> slack_teams;  ///< team id -> token
    std::string mac_key;                             ///< the first of [security] keys
    std::chrono::milliseconds http_timeout{20000};   ///< total, per call of a sink
    std::string version;                             ///< ours
    WriteLine write_log;                             ///< takes the lines of the `log` processor
    Transport transport = over_http();               ///< what their requests go through
};

}  // namespace epilogue
