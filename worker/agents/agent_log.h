// A conversation's log and status, read from its agent server.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/ids.h"
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
/// As metrics spell it: "no_server", …
std::string_view name_of(LogReadError::Why why);

/// Reads a conversation's log; ends early when `stop` is requested. Thread-safe.
using ReadLog = std::function<tl::expected<ServerLog, LogReadError>(const ConversationId& conversation_id,
                                                                    std::stop_token stop)>;

/// Reads logs from the servers that `directory` names, which has to outlive the result.
ReadLog logs_of(AgentDirectory& directory);

}  // namespace epilogue
