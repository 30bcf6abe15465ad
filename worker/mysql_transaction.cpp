#include "worker/mysql_transaction.h"

#include <algorithm>
#include <map>

#include "worker/core/conversation_row.h"
#include "worker/mysql_columns.h"

namespace epilogue {
namespace {

constexpr std::size_t rows_per_statement = 100;  // above that nothing is gained (components.md, B)

/// Calls `on_chunk(first, count)` for consecutive runs of at most rows_per_statement of `size` rows.
template <class OnChunk>
Result<void> in_chunks(std::size_t size, OnChunk on_chunk) {
    for (std::size_t first = 0; first < size; first += rows_per_statement)
        TRY_VOID(on_chunk(first, std::min(rows_per_statement, size - first)));
    return {};
}

std::vector<SqlValue> as_values(const std::vector<std::string>& texts, std::size_t first, std::size_t count) {
    const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

constexpr const char* conversation_columns =
    "conversation_id, status, verdict, turn_key, tail_kind, tail_text, error_code, error_detail, recent_ids, "
    "digest, "
    "fold, last_event_at, due_at";

ConversationRow conversation_row(Columns& columns) {
    ConversationRow row;
    row.status = columns.text();
    row.verdict = columns.text();
    row.turn_key = columns.text();
    row.tail_kind = columns.text();
    row.tail_text = columns.text();
    row.error_code = columns.text();
    row.error_detail = columns.text();
    row.recent_ids = columns.text();
    row.digest = columns.text();
    row.fold = columns.text();
    row.last_event_at = columns.instant();
    row.due_at = columns.instant();
    return row;
}

}  // namespace

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
            "caught_up_at, owner, connection_id, generation, sequence FROM partition_progress "
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
        "last_record_crc, last_record_time, clock_at, caught_up_at, owner, connection_id, generation, "
        "sequence) VALUES " +
            placeholders(14) +
            " ON DUPLICATE KEY UPDATE cluster_id=VALUES(cluster_id), next_offset=VALUES(next_offset), "
            "last_offset=VALUES(last_offset), last_record_crc=VALUES(last_record_crc), "
            "last_record_time=VALUES(last_record_time), clock_at=VALUES(clock_at), "
            "caught_up_at=VALUES(caught_up_at), "
            "owner=VALUES(owner), connection_id=VALUES(connection_id), generation=VALUES(generation), "
            "sequence=VALUES(sequence)",
        {key.group, key.topic, std::int64_t{key.partition}, row.cluster_id, row.next_offset.value,
         last_offset, crc, sql_value(row.last_record_time), sql_value(row.clock), sql_value(row.caught_up_at),
         row.owner, row.connection_id, row.generation.value, row.sequence}));
    return {};
}

Result<std::vector<StoredConversation>> MysqlTransaction::lock_conversations(
    const std::vector<std::string>& ids, int partition) {
    std::map<std::string, Conversation> found;
    TRY_VOID(in_chunks(ids.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (std::size_t i = first; i < first + count; ++i) {
            values.emplace_back(ids[i]);
            values.emplace_back(std::int64_t{partition});
        }
        TRY_VOID(session_.execute("INSERT INTO conversations (conversation_id, partition_id) VALUES " +
                                      placeholders(2, count) +
                                      " ON DUPLICATE KEY UPDATE partition_id=VALUES(partition_id)",
                                  values));
        TRY(const auto rows, session_.query(std::string("SELECT ") + conversation_columns +
                                                " FROM conversations WHERE conversation_id IN " +
                                                placeholders(count) + " ORDER BY conversation_id FOR UPDATE",
                                            as_values(ids, first, count)));
        for (const SqlRow& row : rows) {
            Columns columns(row);
            const std::string id = columns.text();
            TRY(found[id], from_row(conversation_row(columns)));
        }
        return {};
    }));
    std::vector<StoredConversation> stored;
    for (const std::string& id : ids) stored.push_back({id, std::move(found[id])});
    return stored;
}

Result<Conversation> MysqlTransaction::lock_conversation(const std::string& id) {
    constexpr std::int64_t no_partition_yet = -1;
    TRY_VOID(
        session_.execute("INSERT INTO conversations (conversation_id, partition_id) VALUES (?,?) "
                         "ON DUPLICATE KEY UPDATE generation=generation+1",
                         {id, no_partition_yet}));
    TRY(const auto rows, session_.query(std::string("SELECT ") + conversation_columns +
                                            " FROM conversations WHERE conversation_id=? LOCK IN SHARE MODE",
                                        {id}));
    Columns columns(rows.at(0));
    columns.text();
    return from_row(conversation_row(columns));
}

Result<void> MysqlTransaction::put_conversations(const std::vector<StoredConversation>& rows) {
    return in_chunks(rows.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (std::size_t i = first; i < first + count; ++i) {
            const ConversationRow row = to_row(rows[i].conversation);
            values.insert(values.end(),
                          {rows[i].id, std::int64_t{0}, row.status, sql_value_or_null(row.verdict),
                           sql_value_or_null(row.turn_key), sql_value_or_null(row.tail_kind),
                           sql_value_or_null(row.tail_text), sql_value_or_null(row.error_code),
                           sql_value_or_null(row.error_detail), row.recent_ids, sql_value_or_null(row.digest),
                           row.fold, sql_value(row.last_event_at), sql_value(row.due_at)});
        }
        TRY_VOID(session_.execute(
            "INSERT INTO conversations (conversation_id, partition_id, status, verdict, turn_key, tail_kind, "
            "tail_text, "
            "error_code, error_detail, recent_ids, digest, fold, last_event_at, due_at) VALUES " +
                placeholders(14, count) +
                " ON DUPLICATE KEY UPDATE status=VALUES(status), verdict=VALUES(verdict), "
                "turn_key=VALUES(turn_key), "
                "tail_kind=VALUES(tail_kind), tail_text=VALUES(tail_text), error_code=VALUES(error_code), "
                "error_detail=VALUES(error_detail), recent_ids=VALUES(recent_ids), digest=VALUES(digest), "
                "fold=VALUES(fold), "
                "last_event_at=VALUES(last_event_at), due_at=VALUES(due_at), generation=generation+1",
            values));
        return {};
    });
}

Result<std::vector<std::string>> MysqlTransaction::due_conversations(int partition, Instant clock,
                                                                     std::size_t limit) {
    TRY(const auto rows,
        session_.query("SELECT conversation_id FROM conversations WHERE partition_id=? AND due_at<=? "
                       "ORDER BY due_at LIMIT " +
                           std::to_string(limit),
                       {std::int64_t{partition}, clock}));
    std::vector<std::string> ids;
    for (const SqlRow& row : rows) ids.push_back(row.at(0).value_or(""));
    return ids;
}

Result<std::optional<Instant>> MysqlTransaction::next_due(int partition) {
    TRY(const auto rows, session_.query("SELECT MIN(due_at) FROM conversations WHERE partition_id=?",
                                        {std::int64_t{partition}}));
    Columns columns(rows.at(0));
    return columns.instant();
}

Result<std::vector<CallbackRow>> MysqlTransaction::callbacks_where(const std::string& condition,
                                                                   const std::vector<SqlValue>& values) {
    TRY(const auto rows, session_.query("SELECT p.callback_id, p.conversation_id, p.phase, p.reason, "
                                        "p.turn_key, p.options, p.idempotency_key, "
                                        "c.processor_type, c.processor_json FROM callback_progress p "
                                        "JOIN conversation_callbacks c ON c.id=p.callback_id WHERE " +
                                            condition,
                                        values));
    std::vector<CallbackRow> callbacks;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        CallbackRow callback;
        callback.id = columns.number();
        callback.conversation_id = columns.text();
        callback.state.phase = phase_named(columns.text()).value_or(Phase::error);
        callback.state.reason = columns.text();
        callback.state.last_turn_key = columns.text();
        TRY(callback.options, options_from_json(columns.text()));
        callback.idempotency_key = columns.text();
        callback.processor_type = columns.text();
        callback.processor_json = columns.text();
        callbacks.push_back(std::move(callback));
    }
    return callbacks;
}

Result<std::vector<CallbackRow>> MysqlTransaction::lock_active_callbacks(
    const std::vector<std::string>& conversation_ids) {
    std::vector<CallbackRow> all;
    TRY_VOID(in_chunks(conversation_ids.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        TRY(auto callbacks, callbacks_where("p.phase IN ('watching','delivering') AND p.conversation_id IN " +
                                                placeholders(count) + " ORDER BY p.callback_id FOR UPDATE",
                                            as_values(conversation_ids, first, count)));
        std::move(callbacks.begin(), callbacks.end(), std::back_inserter(all));
        return {};
    }));
    return all;
}

Result<std::optional<CallbackRow>> MysqlTransaction::lock_callback(std::int64_t id) {
    TRY(auto callbacks, callbacks_where("p.callback_id=? FOR UPDATE", {id}));
    if (callbacks.empty()) return std::optional<CallbackRow>();
    return std::optional(std::move(callbacks[0]));
}

Result<void> MysqlTransaction::put_callback_state(std::int64_t id, const CallbackState& state) {
    TRY_VOID(
        session_.execute("UPDATE callback_progress SET phase=?, reason=?, turn_key=?, "
                         "generation=generation+1 WHERE callback_id=?",
                         {std::string(name_of(state.phase)), sql_value_or_null(state.reason),
                          sql_value_or_null(state.last_turn_key), id}));
    TRY_VOID(session_.execute(
        "UPDATE conversation_callbacks SET status=?, updated_at=UTC_TIMESTAMP(6) WHERE id=? AND status<>?",
        {std::string(name_of(status_of(state.phase))), id, std::string(name_of(status_of(state.phase)))}));
    return {};
}

Result<std::int64_t> MysqlTransaction::insert_callback(const CallbackRow& row) {
    TRY_VOID(session_.execute(
        "INSERT INTO conversation_callbacks (conversation_id, status, processor_type, processor_json, "
        "created_at, updated_at) VALUES (?,?,?,?,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))",
        {row.conversation_id, std::string(name_of(status_of(row.state.phase))), row.processor_type,
         row.processor_json}));
    TRY(const auto rows, session_.query("SELECT LAST_INSERT_ID()"));
    const std::int64_t id = Columns(rows.at(0)).number();
    TRY_VOID(session_.execute(
        "INSERT INTO callback_progress (callback_id, conversation_id, phase, reason, turn_key, options, "
        "idempotency_key, adopted_at, generation) VALUES (?,?,?,?,?,?,?,UTC_TIMESTAMP(6),1)",
        {id, row.conversation_id, std::string(name_of(row.state.phase)), sql_value_or_null(row.state.reason),
         sql_value_or_null(row.state.last_turn_key), to_json(row.options),
         sql_value_or_null(row.idempotency_key)}));
    return id;
}

Result<std::optional<std::int64_t>> MysqlTransaction::callback_with_idempotency_key(const std::string& key) {
    TRY(const auto rows,
        session_.query("SELECT callback_id FROM callback_progress WHERE idempotency_key=?", {key}));
    if (rows.empty()) return std::optional<std::int64_t>();
    return Columns(rows[0]).number_or_null();
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

}  // namespace epilogue
