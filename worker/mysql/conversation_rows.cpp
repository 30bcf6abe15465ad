#include "worker/mysql/conversation_rows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "worker/core/conversation_row.h"
#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr std::int64_t no_partition_yet = -1;
constexpr std::size_t written_columns = 18;
constexpr const char* conversation_columns =
    "conversation_id, status, verdict, turn_key, tail_kind, tail_text, error_code, error_detail, recent_ids, "
    "digest, "
    "fold, last_event_at, due_at, held, let_go_at";

ConversationRow conversation_row(Columns& columns) {
    ConversationRow row;
    row.status = columns.text();
    row.verdict = columns.text();
    row.turn_key = columns.id<TurnKey>();
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

Result<std::optional<FoundConversation>> find_conversation(MysqlSession& session, const ConversationId& id) {
    TRY(const auto rows,
        session.query(std::string("SELECT ") + conversation_columns +
                          ", partition_id, partition_guessed FROM conversations WHERE conversation_id=?",
                      {id}));
    if (rows.empty()) return std::optional<FoundConversation>();
    Columns columns(rows[0]);
    columns.text();
    FoundConversation found;
    TRY(found.conversation, from_row(conversation_row(columns)));
    columns.number();   // held
    columns.instant();  // resumed at
    const std::int64_t partition = columns.number();
    const bool is_guessed = columns.number() != 0;
    if (partition != no_partition_yet && !is_guessed) found.partition = static_cast<int>(partition);
    return std::optional(std::move(found));
}

Result<std::vector<StoredConversation>> MysqlConversationRows::lock(const std::vector<ConversationId>& ids,
                                                                    int partition) {
    std::map<ConversationId, StoredConversation> found;
    const auto read = [&](const std::vector<SqlValue>& wanted) -> Result<void> {
        TRY(const auto rows,
            session_.query(std::string("SELECT ") + conversation_columns +
                               ", partition_id FROM conversations WHERE conversation_id IN " +
                               placeholders(wanted.size()) + " ORDER BY conversation_id FOR UPDATE",
                           wanted));
        for (const SqlRow& row : rows) {
            Columns columns(row);
            const auto id = columns.id<ConversationId>();
            StoredConversation stored;
            TRY(stored.conversation, from_row(conversation_row(columns)));
            stored.suspended = columns.number() != 0;
            stored.resumed_at = columns.instant();
            if (columns.number() == partition) found[id] = std::move(stored);
        }
        return {};
    };
    TRY_VOID(in_id_chunks(ids, read));
    // New ones, and those that were registered before their first event.
    std::vector<ConversationId> strange;
    for (const ConversationId& id : ids)
        if (!found.contains(id)) strange.push_back(id);
    TRY_VOID(in_chunks(strange.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (std::size_t i = first; i < first + count; ++i)
            values.insert(values.end(), {strange[i], std::int64_t{partition}});
        TRY_VOID(session_.execute("INSERT INTO conversations (conversation_id, partition_id) VALUES " +
                                      placeholders(2, count) +
                                      " ON DUPLICATE KEY UPDATE partition_id=VALUES(partition_id)",
                                  values));
        return {};
    }));
    TRY_VOID(in_id_chunks(strange, read));
    std::vector<StoredConversation> stored;
    for (const ConversationId& id : ids) {
        stored.push_back(std::move(found[id]));
        stored.back().id = id;
    }
    return stored;
}

Result<Conversation> MysqlConversationRows::lock_one(const ConversationId& id) {
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

Result<std::optional<int>> MysqlConversationRows::partition_of(const ConversationId& conversation_id) {
    TRY(const auto rows,
        session_.query("SELECT partition_id FROM conversations WHERE conversation_id=?", {conversation_id}));
    if (rows.empty()) return std::optional<int>();
    const std::int64_t partition = Columns(rows[0]).number();
    return partition == no_partition_yet ? std::nullopt : std::optional(static_cast<int>(partition));
}

Result<void> MysqlConversationRows::note_guess(const ConversationId& id) {
    TRY_VOID(session_.execute("UPDATE conversations SET partition_guessed=1 WHERE conversation_id=?", {id}));
    return {};
}

Result<void> MysqlConversationRows::update(const std::vector<StoredConversation>& rows) {
    return in_chunks(rows.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        values.reserve(count * written_columns);
        for (std::size_t i = first; i < first + count; ++i) {
            ConversationRow row = to_row(rows[i].conversation);
            std::array<SqlValue, written_columns> columns{rows[i].id,
                                                          std::int64_t{0},
                                                          std::move(row.status),
                                                          sql_value_or_null(row.verdict),
                                                          sql_value_or_null(row.turn_key),
                                                          sql_value_or_null(row.tail_kind),
                                                          sql_value_or_null(row.tail_text),
                                                          sql_value_or_null(row.error_code),
                                                          sql_value_or_null(row.error_detail),
                                                          std::move(row.recent_ids),
                                                          sql_value_or_null(row.digest),
                                                          std::move(row.fold),
                                                          sql_value(row.last_event_at),
                                                          sql_value(row.due_at),
                                                          std::int64_t{row.timer},
                                                          std::int64_t{row.turn_open},
                                                          std::int64_t{rows[i].suspended},
                                                          sql_value(rows[i].resumed_at)};
            std::move(columns.begin(), columns.end(), std::back_inserter(values));
        }
        TRY_VOID(session_.execute(
            "INSERT INTO conversations (conversation_id, partition_id, status, verdict, turn_key, tail_kind, "
            "tail_text, "
            "error_code, error_detail, recent_ids, digest, fold, last_event_at, due_at, timer, turn_open, "
            "held, let_go_at) VALUES " +
                placeholders(written_columns, count) +
                " ON DUPLICATE KEY UPDATE status=VALUES(status), verdict=VALUES(verdict), "
                "turn_key=VALUES(turn_key), "
                "tail_kind=VALUES(tail_kind), tail_text=VALUES(tail_text), error_code=VALUES(error_code), "
                "error_detail=VALUES(error_detail), recent_ids=VALUES(recent_ids), digest=VALUES(digest), "
                "fold=VALUES(fold), last_event_at=VALUES(last_event_at), due_at=VALUES(due_at), "
                "timer=VALUES(timer), "
                "turn_open=VALUES(turn_open), held=VALUES(held), let_go_at=VALUES(let_go_at), "
                "generation=generation+1",
            values));
        return {};
    });
}

Result<std::vector<ConversationId>> MysqlConversationRows::due(int partition, Instant clock,
                                                               std::size_t limit) {
    return ids_where("partition_id=? AND held=0 AND due_at<=?", {std::int64_t{partition}, clock}, limit);
}

Result<std::vector<ConversationId>> MysqlConversationRows::suspended(int partition, std::size_t limit) {
    return ids_where("partition_id=? AND held=1", {std::int64_t{partition}}, limit);
}

Result<std::vector<ConversationId>> MysqlConversationRows::ids_where(const std::string& condition,
                                                                     const std::vector<SqlValue>& values,
                                                                     std::size_t limit) {
    return first_column<ConversationId>(session_,
                                        "SELECT conversation_id FROM conversations WHERE " + condition +
                                            " ORDER BY due_at LIMIT " + std::to_string(limit),
                                        values);
}

Result<InactivityCensus> MysqlConversationRows::inactivity_census(Instant from, Instant to,
                                                                  Instant resumed_since) {
    constexpr std::int64_t silence_timer = 2;
    TRY(const auto rows,
        session_.query(
            "SELECT COUNT(*), COALESCE(SUM(held=1 OR due_at BETWEEN ? AND ?), 0) + "
            "(SELECT COUNT(*) FROM conversations WHERE let_go_at>=?) FROM conversations WHERE timer=?",
            {from, to, resumed_since, silence_timer}));
    Columns columns(rows.at(0));
    InactivityCensus census;
    census.open = columns.number();
    census.near = columns.number();
    return census;
}

Result<std::optional<Instant>> MysqlConversationRows::next_due(int partition) {
    TRY(const auto rows,
        session_.query("SELECT MIN(due_at) FROM conversations WHERE partition_id=? AND held=0",
                       {std::int64_t{partition}}));
    return Columns(rows.at(0)).instant();
}

}  // namespace epilogue
