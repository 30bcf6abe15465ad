// The agent servers part of SimTransaction.
#include "tests/sim/session.h"

namespace epilogue::sim {

Result<void> SimTransaction::put_agent_endpoint(const AgentEndpoint& endpoint) {
    TRY_VOID(statement());
    open_->changes.endpoints[endpoint.conversation_id] = endpoint;
    return {};
}

Result<std::optional<AgentEndpoint>> SimTransaction::agent_endpoint(const std::string& conversation_id) {
    TRY_VOID(statement());
    const auto found = database_.endpoints.find(conversation_id);
    return found == database_.endpoints.end() ? std::optional<AgentEndpoint>() : std::optional(found->second);
}

}  // namespace epilogue::sim
