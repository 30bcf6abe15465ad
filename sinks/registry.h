// Every sink there is, by its short name.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "sinks/http_api.h"
#include "sinks/log.h"
#include "sinks/sink.h"

namespace epilogue {

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

/// One of each sink, under the short names of contract §4. A new sink is a line in the table of registry.cpp.
std::map<std::string, std::unique_ptr<Sink>> make_sinks(const SinkSettings& settings);

}  // namespace epilogue
