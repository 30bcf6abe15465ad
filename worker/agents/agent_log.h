// A conversation's log and status, read from its agent server.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "worker/agents/agent_directory.h"
#include "worker/core/server_log.h"

namespace epilogue {

/// Why a log could not be read.
struct LogReadError {
    enum class Why {
        no_server,     ///< there is none to ask
        unusable,      ///< its address or key cannot be used
        unknown,       ///< the server knows no such conversation
        unauthorised,  ///< the key is wrong or missing
        unreachable,   ///< no answer
        failed,        ///< an answer that makes no sense, or our database's failure
    };
    Why why = Why::failed;
    std::string text;
};
std::string_view name_of(LogReadError::Why why);

/// Reads a conversation's log; ends early when it is told to stop. Thread-safe.
using ReadLog = std::function<tl::expected<ServerLog, LogReadError>(const std::string& conversation_id,
                                                                    std::stop_token stop)>;

/// Reads it from the server that `directory`, which has to outlive it, says.
ReadLog logs_of(AgentDirectory& directory);

}  // namespace epilogue
