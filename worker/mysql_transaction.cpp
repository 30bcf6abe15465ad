#include "worker/mysql_transaction.h"

#include "worker/mysql_columns.h"

namespace epilogue {

Result<Instant> MysqlTransaction::now() {
    TRY(const auto rows, session_.query("SELECT UTC_TIMESTAMP(6)"));
    Columns columns(rows.at(0));
    return columns.instant().value_or(Instant{});
}

Result<std::optional<PartitionRow>> MysqlTransaction::lock_partition(const PartitionKey& key) {
    return partition_row(key, "FOR UPDATE");
}

Result<std::optional<PartitionRow>> MysqlTransaction::peek_partition(const PartitionKey& key) {
    return partition_row(key, "");
}

Result<std::optional<PartitionRow>> MysqlTransaction::partition_row(const PartitionKey& key,
                                                                    const std::string& lock) {
    TRY(const auto rows,
        session_.query(
            "SELECT cluster_id, next_offset, last_offset, last_record_crc, last_record_time, clock_at, "
            "caught_up_at, touched_at, returned_at, owner, connection_id, generation, sequence FROM "
            "partition_progress "
            "WHERE consumer_group=? AND topic=? AND partition_id=? " +
                lock,
            {key.group, key.topic, std::int64_t{key.partition}}));
    if (rows.empty()) return std::optional<PartitionRow>();
    Columns columns(rows[0]);
    PartitionRow row;
    row.cluster_id = columns.text();
    row.next_offset = {columns.number()};
    if (const auto offset = columns.number_or_null()) row.last_offset = Offset{*offset};
    row.last_record_crc = columns.number_or_null();
    row.last_record_time = columns.instant();
    row.clock = columns.instant();
    row.caught_up_at = columns.instant();
    row.touched_at = columns.instant();
    row.returned_at = columns.instant();
    row.owner = columns.text();
    row.connection_id = columns.number();
    row.generation = {columns.number()};
    row.sequence = columns.number();
    return std::optional(std::move(row));
}

Result<void> MysqlTransaction::put_partition(const PartitionKey& key, const PartitionRow& row) {
    const SqlValue last_offset = row.last_offset ? SqlValue(row.last_offset->value) : SqlValue(nullptr);
    const SqlValue crc = row.last_record_crc ? SqlValue(*row.last_record_crc) : SqlValue(nullptr);
    TRY_VOID(session_.execute(
        "INSERT INTO partition_progress (consumer_group, topic, partition_id, cluster_id, next_offset, "
        "last_offset, "
        "last_record_crc, last_record_time, clock_at, caught_up_at, touched_at, returned_at, owner, "
        "connection_id, "
        "generation, sequence) VALUES " +
            placeholders(16) +
            " ON DUPLICATE KEY UPDATE cluster_id=VALUES(cluster_id), next_offset=VALUES(next_offset), "
            "last_offset=VALUES(last_offset), last_record_crc=VALUES(last_record_crc), "
            "last_record_time=VALUES(last_record_time), clock_at=VALUES(clock_at), "
            "caught_up_at=VALUES(caught_up_at), "
            "touched_at=VALUES(touched_at), returned_at=VALUES(returned_at), owner=VALUES(owner), "
            "connection_id=VALUES(connection_id), generation=VALUES(generation), sequence=VALUES(sequence)",
        {key.group, key.topic, std::int64_t{key.partition}, row.cluster_id, row.next_offset.value,
         last_offset, crc, sql_value(row.last_record_time), sql_value(row.clock), sql_value(row.caught_up_at),
         sql_value(row.touched_at), sql_value(row.returned_at), row.owner, row.connection_id,
         row.generation.value, row.sequence}));
    return {};
}

Result<void> MysqlTransaction::insert_dead_letters(const std::vector<DeadLetterRow>& rows) {
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

Result<std::optional<DeadLetterRow>> MysqlTransaction::lock_dead_letter(std::int64_t id) {
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

Result<void> MysqlTransaction::mark_replayed(std::int64_t dead_letter_id) {
    TRY_VOID(session_.execute("UPDATE dead_letters SET replayed_at=UTC_TIMESTAMP(6) WHERE id=?",
                              {dead_letter_id}));
    return {};
}

}  // namespace epilogue
