// A conversation's log and status, read from its agent server.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <tl/expected.hpp>

#include "agent/calls.h"
#include "base/ids.h"
#include "base/result.h"
#include "worker/agents/agent_directory.h"
#include "worker/core/reconcile_pace.h"
#include "worker/core/server_log.h"

namespace epilogue {

/// Why a log could not be read.
struct LogReadError {
    Hindrance why = Hindrance::failed;
    std::string text;  ///< for people, with the server's address where there is one; never holds a secret
    std::chrono::milliseconds retry_after{0};  ///< before that the server is not asked again
};

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

/// What keeps `calls` from telling about their conversation, after one short look at it; nullopt: nothing.
/// Answers within that time.
std::optional<LogReadError> look_once(const agent::ConversationCalls& calls,
                                      std::chrono::milliseconds within);

}  // namespace epilogue
