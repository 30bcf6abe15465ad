#include "worker/mysql/reconcile_rows.h"

#include "worker/mysql/columns.h"

namespace epilogue {

Result<void> MysqlReconcileRows::request(const ReconcileRow& row) {
    TRY_VOID(session_.execute(
        "INSERT INTO catch_ups (conversation_id, why, asked_at, next_try_at, attempts, owner) "
        "VALUES (?,?,UTC_TIMESTAMP(6),?,0,NULL) ON DUPLICATE KEY UPDATE why=IF(why='gap',why,VALUES(why)), "
        "asked_at=VALUES(asked_at), next_try_at=VALUES(next_try_at), attempts=0, owner=NULL, crashes=0",
        {row.conversation_id, std::string(name_of(row.why)), row.next_try_at}));
    return {};
}

Result<std::vector<ConversationId>> MysqlReconcileRows::due(std::size_t limit) {
    return first_column<ConversationId>(
        session_,
        "SELECT conversation_id FROM catch_ups WHERE next_try_at<=UTC_TIMESTAMP(6) "
        "ORDER BY next_try_at LIMIT " +
            std::to_string(limit));
}

Result<std::optional<ReconcileRow>> MysqlReconcileRows::lock(const ConversationId& conversation_id) {
    TRY(const auto rows, session_.query("SELECT why, next_try_at, attempts, owner, crashes FROM catch_ups "
                                        "WHERE conversation_id=? FOR UPDATE",
                                        {conversation_id}));
    if (rows.empty()) return std::optional<ReconcileRow>();
    Columns columns(rows[0]);
    ReconcileRow row;
    row.conversation_id = conversation_id;
    row.why = reconcile_reason_named(columns.text()).value_or(ReconcileReason::registered);
    row.next_try_at = columns.instant().value_or(Instant{});
    row.attempts = static_cast<int>(columns.number());
    row.owner = columns.text();
    row.crashes = static_cast<int>(columns.number());
    return std::optional(std::move(row));
}

Result<void> MysqlReconcileRows::update(const ReconcileRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE catch_ups SET next_try_at=?, attempts=?, owner=? WHERE conversation_id=?",
        {row.next_try_at, std::int64_t{row.attempts}, sql_value_or_null(row.owner), row.conversation_id}));
    return {};
}

Result<void> MysqlReconcileRows::remove(const ConversationId& conversation_id) {
    TRY_VOID(session_.execute("DELETE FROM catch_ups WHERE conversation_id=?", {conversation_id}));
    return {};
}

Result<std::size_t> MysqlReconcileRows::not_begun(ReconcileReason why, std::size_t limit) {
    TRY(const auto rows, session_.query("SELECT COUNT(*) FROM (SELECT 1 FROM catch_ups WHERE why=? AND "
                                        "attempts=0 LIMIT " +
                                            std::to_string(limit) + ") waiting",
                                        {std::string(name_of(why))}));
    return static_cast<std::size_t>(Columns(rows.at(0)).number());
}

}  // namespace epilogue
