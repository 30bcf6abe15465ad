#include "worker/mysql/agent_endpoint_rows.h"

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {

Result<void> MysqlAgentEndpointRows::save(const AgentEndpoint& endpoint) {
    TRY_VOID(session_.execute(
        "INSERT INTO agent_endpoints (conversation_id, url, session_key_sealed) VALUES (?,?,?) "
        "ON DUPLICATE KEY UPDATE url=VALUES(url), session_key_sealed=VALUES(session_key_sealed)",
        {endpoint.conversation_id, endpoint.url, sql_value_or_null(endpoint.sealed_key)}));
    // A relay whom its server refused may try the new key at once.
    TRY_VOID(session_.execute(
        "UPDATE relay_positions SET lease_until=UTC_TIMESTAMP(6) WHERE conversation_id=? AND "
        "owner IS NULL AND lease_until>UTC_TIMESTAMP(6)",
        {endpoint.conversation_id}));
    return {};
}

Result<std::optional<AgentEndpoint>> MysqlAgentEndpointRows::find(const ConversationId& conversation_id) {
    TRY(const auto rows,
        session_.query("SELECT url, session_key_sealed FROM agent_endpoints WHERE conversation_id=?",
                       {conversation_id}));
    if (rows.empty()) return std::optional<AgentEndpoint>();
    Columns columns(rows[0]);
    AgentEndpoint endpoint;
    endpoint.conversation_id = conversation_id;
    endpoint.url = columns.text();
    endpoint.sealed_key = columns.text();
    return std::optional(std::move(endpoint));
}

Result<std::vector<ConversationId>> MysqlAgentEndpointRows::among(
    const std::vector<ConversationId>& conversation_ids) {
    return first_column_among(session_, "SELECT conversation_id FROM agent_endpoints WHERE conversation_id",
                              conversation_ids);
}

}  // namespace epilogue
