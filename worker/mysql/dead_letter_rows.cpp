#include "worker/mysql/dead_letter_rows.h"

#include "worker/mysql/columns.h"

namespace epilogue {

Result<void> MysqlDeadLetterRows::insert(const std::vector<DeadLetterRow>& rows) {
    for (const DeadLetterRow& row : rows) {
        TRY_VOID(session_.execute(
            "INSERT INTO dead_letters (cluster_id, topic, partition_id, record_offset, record_key, reason, "
            "length, sha256, value, "
            "created_at) VALUES (?,?,?,?,?,?,?,?,?,UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE id=id",
            {row.cluster_id, row.topic, std::int64_t{row.partition}, row.offset.value,
             row.key ? SqlValue(*row.key) : SqlValue(nullptr), row.reason, row.length, row.sha256,
             row.value}));
    }
    return {};
}

Result<std::optional<DeadLetterRow>> MysqlDeadLetterRows::lock(std::int64_t id) {
    TRY(const auto rows,
        session_.query(
            "SELECT cluster_id, topic, partition_id, record_offset, record_key, reason, length, sha256, "
            "value FROM dead_letters WHERE id=? FOR UPDATE",
            {id}));
    if (rows.empty()) return std::optional<DeadLetterRow>();
    Columns columns(rows[0]);
    DeadLetterRow row;
    row.cluster_id = columns.text();
    row.topic = columns.text();
    row.partition = static_cast<int>(columns.number());
    row.offset = {columns.number()};
    row.key = columns.text_or_null();
    row.reason = columns.text();
    row.length = columns.number();
    row.sha256 = columns.text();
    row.value = columns.text();
    return std::optional(std::move(row));
}

Result<void> MysqlDeadLetterRows::mark_replayed(std::int64_t dead_letter_id) {
    TRY_VOID(session_.execute("UPDATE dead_letters SET replayed_at=UTC_TIMESTAMP(6) WHERE id=?",
                              {dead_letter_id}));
    return {};
}

}  // namespace epilogue
