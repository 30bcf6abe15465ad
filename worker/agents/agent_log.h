// A conversation's log and status, read from its agent server.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <tl/expected.hpp>

#include "base/ids.h"
#include "base/result.h"
#include "worker/agents/agent_directory.h"
#include "worker/core/server_log.h"
#include "worker/sources/told_log.h"

namespace epilogue {

/// Reads a conversation's log; ends early when `stop` is requested. Thread-safe.
using ReadLog = std::function<tl::expected<ServerLog, LogReadError>(const ConversationId& conversation_id,
                                                                    std::stop_token stop)>;
/// The address of a conversation's server; "": it has none. Errors: the database's. Thread-safe.
using ServerOf = std::function<Result<std::string>(const ConversationId& conversation_id)>;

/// What a short look at a conversation finds that would hinder the reading of its log; nullopt: nothing. Ends
/// early when `stop` is requested. Thread-safe.
using LookAtServer =
    std::function<std::optional<LogReadError>(const ConversationId& conversation_id, std::stop_token stop)>;

/// Where logs are read.
struct AgentLogSource {
    ReadLog read;
    ServerOf server_of;
    LookAtServer look = {};  ///< empty: no look is made
};

/// Reads logs from the servers that `directory` names, which has to outlive the result.
AgentLogSource logs_of(AgentDirectory& directory);

}  // namespace epilogue
