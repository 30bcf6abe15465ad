#include "worker/mysql/reconcile_rows.h"

#include "worker/mysql/columns.h"

namespace epilogue {

Result<void> MysqlReconcileRows::request(const ReconcileRow& row) {
    TRY_VOID(session_.execute(
        "INSERT INTO catch_ups (conversation_id, why, asked_at, next_try_at, attempts, owner) "
        "VALUES (?,?,UTC_TIMESTAMP(6),?,0,NULL) ON DUPLICATE KEY UPDATE why=IF(why='gap',why,VALUES(why)), "
        "asked_at=VALUES(asked_at), next_try_at=VALUES(next_try_at), attempts=0, owner=NULL, crashes=0, "
        "hindrance=NULL",
        {row.conversation_id, std::string(name_of(row.why)), row.next_try_at}));
    return {};
}

Result<std::vector<DueReconcile>> MysqlReconcileRows::due(const std::optional<DueReconcile>& after,
                                                          std::size_t limit) {
    std::string where = "next_try_at<=UTC_TIMESTAMP(6)";
    std::vector<SqlValue> values;
    if (after) {
        where += " AND next_try_at>=? AND (next_try_at>? OR conversation_id>?)";
        values = {after->next_try_at, after->next_try_at, after->conversation_id};
    }
    TRY(const auto rows,
        session_.query("SELECT conversation_id, next_try_at, hindrance FROM catch_ups WHERE " + where +
                           " ORDER BY next_try_at, conversation_id LIMIT " + std::to_string(limit),
                       values));
    std::vector<DueReconcile> due;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        DueReconcile& each = due.emplace_back();
        each.conversation_id = columns.id<ConversationId>();
        each.next_try_at = columns.instant().value_or(Instant{});
        each.hindrance = hindrance_named(columns.text());
    }
    return due;
}

Result<std::optional<ReconcileRow>> MysqlReconcileRows::lock(const ConversationId& conversation_id) {
    TRY(const auto rows, session_.query("SELECT why, asked_at, next_try_at, attempts, owner, crashes, "
                                        "hindrance FROM catch_ups WHERE conversation_id=? FOR UPDATE",
                                        {conversation_id}));
    if (rows.empty()) return std::optional<ReconcileRow>();
    Columns columns(rows[0]);
    ReconcileRow row;
    row.conversation_id = conversation_id;
    row.why = reconcile_reason_named(columns.text()).value_or(ReconcileReason::registered);
    row.asked_at = columns.instant().value_or(Instant{});
    row.next_try_at = columns.instant().value_or(Instant{});
    row.attempts = static_cast<int>(columns.number());
    row.owner = columns.text();
    row.crashes = static_cast<int>(columns.number());
    row.hindrance = hindrance_named(columns.text());
    return std::optional(std::move(row));
}

Result<void> MysqlReconcileRows::update(const ReconcileRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE catch_ups SET next_try_at=?, attempts=?, owner=?, hindrance=? WHERE conversation_id=?",
        {row.next_try_at, std::int64_t{row.attempts}, sql_value_or_null(row.owner),
         sql_value_or_null(std::string(row.hindrance ? name_of(*row.hindrance) : "")), row.conversation_id}));
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
