// What `epilogue relay` needs: agent servers and app servers that answer and let us in, clocks that agree,
// webhooks that come. Reads only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/config.h"
#include "base/io/mysql.h"
#include "ops/doctor/finding.h"

namespace epilogue::doctor {

/// What an agent server or an app server said.
struct ServerVisit {
    std::string name;                                   ///< its address
    std::string cause;                                  ///< why it could not be asked; "": it answered
    int status = 0;                                     ///< to who lists its conversations
    std::optional<std::chrono::seconds> clock_ahead{};  ///< its clock minus ours; nullopt: it does not tell
    bool lists = true;                                  ///< what it answered is a list of conversations
};

/// What the database knows of the relay.
struct RelayRows {
    std::optional<std::chrono::seconds>
        webhook_age{};                      ///< since a webhook told of a new conversation; nullopt: never
    std::int64_t followed = 0;              ///< conversations
    std::int64_t troubled = 0;              ///< of these
    std::string trouble{};                  ///< of one of them
    std::int64_t troubled_app_servers = 0;  ///< in the last hour
    std::string app_server_trouble{};       ///< of one of them
};

/// Asks each agent server that the configuration names, all at the same time, within some seconds.
Findings visit_agent_servers(const Config& config);
/// Likewise each app server.
Findings visit_app_servers(const Config& config);
/// Errors: the database's.
Result<RelayRows> relay_rows(MysqlSession& session);

/// @{ Pure.
Findings judge_agent_server(const ServerVisit& visit);
Findings judge_app_server(const ServerVisit& visit);
/// `has_keys`: webhooks are let in.
Findings judge_relay_rows(const RelayRows& rows, bool has_keys);
/// @}

}  // namespace epilogue::doctor
