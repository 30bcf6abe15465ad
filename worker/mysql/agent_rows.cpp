// The agent servers part of MysqlTransaction.
#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/mysql_transaction.h"

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

Result<std::vector<std::string>> MysqlTransaction::with_agent_server(
    const std::vector<std::string>& conversation_ids) {
    return first_column_among(session_, "SELECT conversation_id FROM agent_endpoints WHERE conversation_id",
                              conversation_ids);
}

Result<void> MysqlTransaction::ask_catch_up(const CatchUpRow& row) {
    TRY_VOID(session_.execute(
        "INSERT INTO catch_ups (conversation_id, why, asked_at, next_try_at, attempts, owner) "
        "VALUES (?,?,UTC_TIMESTAMP(6),?,0,NULL) ON DUPLICATE KEY UPDATE why=VALUES(why), "
        "asked_at=VALUES(asked_at), next_try_at=VALUES(next_try_at), attempts=0, owner=NULL",
        {row.conversation_id, std::string(name_of(row.why)), row.next_try_at}));
    return {};
}

Result<std::vector<std::string>> MysqlTransaction::due_catch_ups(std::size_t limit) {
    return first_column(session_,
                        "SELECT conversation_id FROM catch_ups WHERE next_try_at<=UTC_TIMESTAMP(6) "
                        "ORDER BY next_try_at LIMIT " +
                            std::to_string(limit));
}

Result<std::optional<CatchUpRow>> MysqlTransaction::lock_catch_up(const std::string& conversation_id) {
    TRY(const auto rows, session_.query("SELECT why, next_try_at, attempts, owner FROM catch_ups "
                                        "WHERE conversation_id=? FOR UPDATE",
                                        {conversation_id}));
    if (rows.empty()) return std::optional<CatchUpRow>();
    Columns columns(rows[0]);
    CatchUpRow row;
    row.conversation_id = conversation_id;
    row.why = columns.text() == name_of(CatchUpWhy::silence) ? CatchUpWhy::silence : CatchUpWhy::registered;
    row.next_try_at = columns.instant().value_or(Instant{});
    row.attempts = static_cast<int>(columns.number());
    row.owner = columns.text();
    return std::optional(std::move(row));
}

Result<void> MysqlTransaction::put_catch_up(const CatchUpRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE catch_ups SET next_try_at=?, attempts=?, owner=? WHERE conversation_id=?",
        {row.next_try_at, std::int64_t{row.attempts}, sql_value_or_null(row.owner), row.conversation_id}));
    return {};
}

Result<void> MysqlTransaction::remove_catch_up(const std::string& conversation_id) {
    TRY_VOID(session_.execute("DELETE FROM catch_ups WHERE conversation_id=?", {conversation_id}));
    return {};
}

}  // namespace epilogue
