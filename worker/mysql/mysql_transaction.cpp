#include "worker/mysql/mysql_transaction.h"

#include <utility>

#include <fmt/format.h>

#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

std::optional<RecordPrint> print_in(Columns& columns) {
    const auto offset = columns.number_or_null();
    const auto crc = columns.number_or_null();
    const auto timestamp = columns.instant();
    if (!offset || !crc || !timestamp) return std::nullopt;
    return RecordPrint{{*offset}, *crc, *timestamp};
}

}  // namespace

Result<Instant> MysqlTransaction::now() {
    if (now_) return *std::exchange(now_, std::nullopt);
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
            "SELECT consumer_group, cluster_id, next_offset, last_offset, last_record_crc, last_record_time, "
            "clock_at, caught_up_at, caught_up_offset, touched_at, returned_at, owner, connection_id, "
            "generation, sequence, anchor_offset, anchor_crc, anchor_time, first_partitions, moved_at, "
            "moved_from, moved_why FROM partition_progress FORCE INDEX (ix_partition_progress_log) "
            "WHERE topic=? AND partition_id=? ORDER BY generation DESC LIMIT 1 " +
                lock,
            {key.topic, std::int64_t{key.partition}}));
    if (rows.empty()) return std::optional<PartitionRow>();
    Columns columns(rows[0]);
    PartitionRow row;
    row.group = columns.text();
    row.cluster_id = columns.text();
    row.next_offset = {columns.number()};
    row.last = print_in(columns);
    row.clock = columns.instant();
    row.caught_up_at = columns.instant();
    if (const auto offset = columns.number_or_null()) row.caught_up_offset = NextOffset{*offset};
    row.touched_at = columns.instant();
    row.returned_at = columns.instant();
    row.owner = columns.text();
    row.connection_id = columns.number();
    row.generation = {columns.number()};
    row.sequence = columns.number();
    row.anchor = print_in(columns);
    if (const auto count = columns.number_or_null()) row.first_partitions = static_cast<int>(*count);
    const auto moved_at = columns.instant();
    const NextOffset moved_from{columns.number()};
    if (moved_at) row.moved = Move{*moved_at, moved_from, columns.text()};
    return std::optional(std::move(row));
}

Result<void> MysqlTransaction::put_partition(const PartitionKey& key, const PartitionRow& row) {
    const auto& caught_up = row.caught_up_offset;
    const auto& last = row.last;
    const auto& anchor = row.anchor;
    const auto& moved = row.moved;
    const std::vector<std::pair<std::string_view, SqlValue>> columns{
        {"consumer_group", key.group},
        {"topic", key.topic},
        {"partition_id", std::int64_t{key.partition}},
        {"cluster_id", row.cluster_id},
        {"next_offset", row.next_offset.value},
        {"last_offset", last ? SqlValue(last->offset.value) : SqlValue(nullptr)},
        {"last_record_crc", last ? SqlValue(last->crc) : SqlValue(nullptr)},
        {"last_record_time", last ? SqlValue(last->timestamp) : SqlValue(nullptr)},
        {"clock_at", sql_value(row.clock)},
        {"caught_up_at", sql_value(row.caught_up_at)},
        {"caught_up_offset", caught_up ? SqlValue(caught_up->value) : SqlValue(nullptr)},
        {"touched_at", sql_value(row.touched_at)},
        {"returned_at", sql_value(row.returned_at)},
        {"owner", row.owner},
        {"connection_id", row.connection_id},
        {"generation", row.generation.value},
        {"sequence", row.sequence},
        {"anchor_offset", anchor ? SqlValue(anchor->offset.value) : SqlValue(nullptr)},
        {"anchor_crc", anchor ? SqlValue(anchor->crc) : SqlValue(nullptr)},
        {"anchor_time", anchor ? SqlValue(anchor->timestamp) : SqlValue(nullptr)},
        {"first_partitions",
         row.first_partitions ? SqlValue(std::int64_t{*row.first_partitions}) : SqlValue(nullptr)},
        {"moved_at", moved ? SqlValue(moved->at) : SqlValue(nullptr)},
        {"moved_from", moved ? SqlValue(moved->from.value) : SqlValue(nullptr)},
        {"moved_why", moved ? SqlValue(moved->why) : SqlValue(nullptr)}};
    constexpr std::size_t key_columns = 3;
    std::string names;
    std::string updates;
    std::vector<SqlValue> values;
    for (const auto& [name, value] : columns) {
        names += (names.empty() ? "" : ",") + std::string(name);
        if (values.size() >= key_columns)
            updates += fmt::format("{}{}=VALUES({})", updates.empty() ? "" : ",", name, name);
        values.push_back(value);
    }
    TRY_VOID(session_.execute("INSERT INTO partition_progress (" + names + ") VALUES " +
                                  placeholders(columns.size()) + " ON DUPLICATE KEY UPDATE " + updates,
                              values));
    return {};
}

Result<std::optional<int>> MysqlTransaction::first_partitions(const std::string& topic) {
    TRY(const auto rows,
        session_.query("SELECT MIN(first_partitions) FROM partition_progress WHERE topic=?", {topic}));
    const auto count = Columns(rows.at(0)).number_or_null();
    return count ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

Result<int> MysqlTransaction::known_partitions(const std::string& topic) {
    TRY(const auto rows,
        session_.query("SELECT MAX(partition_id)+1 FROM partition_progress WHERE topic=?", {topic}));
    return static_cast<int>(Columns(rows.at(0)).number());
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
