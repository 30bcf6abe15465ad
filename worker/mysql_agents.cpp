// The agent servers part of MysqlTransaction.
#include "worker/mysql_columns.h"
#include "worker/mysql_transaction.h"

namespace epilogue {

Result<void> MysqlTransaction::put_agent_endpoint(const AgentEndpoint& endpoint) {
    TRY_VOID(session_.execute(
        "INSERT INTO agent_endpoints (conversation_id, url, session_key_sealed) VALUES (?,?,?) "
        "ON DUPLICATE KEY UPDATE url=VALUES(url), session_key_sealed=VALUES(session_key_sealed)",
        {endpoint.conversation_id, endpoint.url, sql_value_or_null(endpoint.sealed_key)}));
    return {};
}

Result<std::optional<AgentEndpoint>> MysqlTransaction::agent_endpoint(const std::string& conversation_id) {
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

}  // namespace epilogue
