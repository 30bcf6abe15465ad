// Rows of agent_endpoints: conversations that have an agent server of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue {

/// The agent server of one conversation, where it has one of its own.
struct AgentEndpoint {
    ConversationId conversation_id;
    std::string url;
    std::string sealed_key;  ///< bound to the conversation's id (base/sealed.h); empty: it takes none
};

/// Not thread-safe; valid as long as its transaction.
class AgentEndpointRows {
  public:
    AgentEndpointRows() = default;
    AgentEndpointRows(const AgentEndpointRows&) = delete;
    AgentEndpointRows& operator=(const AgentEndpointRows&) = delete;
    virtual ~AgentEndpointRows() = default;

    /// Takes the place of the conversation's endpoint, if it has one.
    virtual Result<void> save(const AgentEndpoint& endpoint) = 0;
    virtual Result<std::optional<AgentEndpoint>> find(const ConversationId& conversation_id) = 0;
    /// Those of the conversations that have an endpoint.
    virtual Result<std::vector<ConversationId>> among(
        const std::vector<ConversationId>& conversation_ids) = 0;
};

}  // namespace epilogue
