#include "worker/mysql/partition_rows.h"

#include <utility>

#include <fmt/format.h>

#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

std::optional<RecordFingerprint> print_in(Columns& columns) {
    const auto offset = columns.number_or_null();
    const auto crc = columns.number_or_null();
    const auto timestamp = columns.instant();
    if (!offset || !crc || !timestamp) return std::nullopt;
    return RecordFingerprint{{*offset}, *crc, *timestamp};
}

}  // namespace

Result<std::optional<PartitionRow>> MysqlPartitionRows::lock(const PartitionKey& key) {
    return partition_row(key, "FOR UPDATE");
}

Result<std::optional<PartitionRow>> MysqlPartitionRows::read(const PartitionKey& key) {
    return partition_row(key, "");
}

Result<std::optional<PartitionRow>> MysqlPartitionRows::partition_row(const PartitionKey& key,
                                                                      const std::string& lock) {
    TRY(const auto rows,
        session_.query(
            "SELECT consumer_group, cluster_id, next_offset, last_offset, last_record_crc, last_record_time, "
            "clock_at, caught_up_at, caught_up_offset, touched_at, returned_at, owner, connection_id, "
            "generation, sequence, anchor_offset, anchor_crc, anchor_time, first_partitions, moved_at, "
            "moved_from, moved_why, gap_at, topic_id FROM partition_progress FORCE INDEX "
            "(ix_partition_progress_log) "
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
    const std::string moved_why = columns.text();
    if (moved_at) row.reset = PositionReset{*moved_at, moved_from, moved_why};
    row.gap_at = columns.instant();
    row.topic_id = columns.text();
    return std::optional(std::move(row));
}

Result<void> MysqlPartitionRows::update(const PartitionKey& key, const PartitionRow& row) {
    const auto& caught_up = row.caught_up_offset;
    const auto& last = row.last;
    const auto& anchor = row.anchor;
    const auto& moved = row.reset;
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
        {"moved_why", moved ? SqlValue(moved->why) : SqlValue(nullptr)},
        {"gap_at", sql_value(row.gap_at)},
        {"topic_id", row.topic_id.empty() ? SqlValue(nullptr) : SqlValue(row.topic_id)}};
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

Result<std::optional<int>> MysqlPartitionRows::first_count(const std::string& topic) {
    TRY(const auto rows,
        session_.query("SELECT MIN(first_partitions) FROM partition_progress WHERE topic=?", {topic}));
    const auto count = Columns(rows.at(0)).number_or_null();
    return count ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

Result<int> MysqlPartitionRows::known_count(const std::string& topic) {
    TRY(const auto rows,
        session_.query(
            "SELECT GREATEST(MAX(partition_id)+1, COALESCE(MAX(first_partitions),0)) FROM partition_progress "
            "WHERE topic=?",
            {topic}));
    return static_cast<int>(Columns(rows.at(0)).number());
}

}  // namespace epilogue
