#include "worker/mysql/callback_rows.h"

#include <algorithm>
#include <iterator>

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr std::string_view is_active = "phase IN ('watching','delivering','dormant')";

}  // namespace

Result<std::vector<CallbackRow>> MysqlCallbackRows::callbacks_where(const std::string& condition,
                                                                    const std::vector<SqlValue>& values) {
    TRY(const auto rows, session_.query("SELECT p.callback_id, p.conversation_id, p.phase, p.reason, "
                                        "p.turn_key, p.options, p.idempotency_key, p.adopted_at, "
                                        "c.processor_type, c.processor_json FROM callback_progress p "
                                        "JOIN conversation_callbacks c ON c.id=p.callback_id WHERE " +
                                            condition,
                                        values));
    std::vector<CallbackRow> callbacks;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        CallbackRow callback;
        callback.id = {columns.number()};
        callback.conversation_id = columns.id<ConversationId>();
        callback.state.phase = phase_named(columns.text()).value_or(Phase::error);
        callback.state.reason = columns.text();
        callback.state.last_turn_key = columns.id<TurnKey>();
        TRY(callback.options, options_from_json(columns.text()));
        callback.idempotency_key = columns.text();
        callback.adopted_at = columns.instant().value_or(Instant{});
        callback.processor_type = columns.text();
        callback.processor_json = columns.text();
        callbacks.push_back(std::move(callback));
    }
    return callbacks;
}

Result<std::vector<CallbackRow>> MysqlCallbackRows::lock_active(
    const std::vector<ConversationId>& conversation_ids) {
    std::vector<CallbackRow> all;
    TRY_VOID(in_id_chunks(conversation_ids, [&](const std::vector<SqlValue>& ids) -> Result<void> {
        TRY(auto callbacks,
            callbacks_where("p." + std::string(is_active) + " AND p.conversation_id IN " +
                                placeholders(ids.size()) + " ORDER BY p.callback_id FOR UPDATE",
                            ids));
        std::move(callbacks.begin(), callbacks.end(), std::back_inserter(all));
        return {};
    }));
    return all;
}

Result<std::vector<ConversationId>> MysqlCallbackRows::watched_among(
    const std::vector<ConversationId>& conversation_ids) {
    return first_column_among(session_,
                              "SELECT DISTINCT conversation_id FROM callback_progress WHERE " +
                                  std::string(is_active) + " AND conversation_id",
                              conversation_ids);
}

Result<std::optional<CallbackRow>> MysqlCallbackRows::read(CallbackId id) {
    TRY(auto callbacks, callbacks_where("p.callback_id=?", {id.value}));
    if (callbacks.empty()) return std::optional<CallbackRow>();
    return std::optional(std::move(callbacks[0]));
}

Result<std::optional<CallbackRow>> MysqlCallbackRows::lock(CallbackId id) {
    TRY(auto callbacks, callbacks_where("p.callback_id=? FOR UPDATE", {id.value}));
    if (callbacks.empty()) return std::optional<CallbackRow>();
    return std::optional(std::move(callbacks[0]));
}

Result<void> MysqlCallbackRows::update_state(CallbackId id, const CallbackState& state) {
    TRY_VOID(
        session_.execute("UPDATE callback_progress SET phase=?, reason=?, turn_key=?, "
                         "generation=generation+1 WHERE callback_id=?",
                         {std::string(name_of(state.phase)), sql_value_or_null(state.reason),
                          sql_value_or_null(state.last_turn_key), id.value}));
    TRY_VOID(session_.execute(
        "UPDATE conversation_callbacks SET status=?, updated_at=UTC_TIMESTAMP(6) WHERE id=? AND status<>?",
        {std::string(name_of(status_of(state.phase))), id.value,
         std::string(name_of(status_of(state.phase)))}));
    return {};
}

Result<UnadoptedChunk> MysqlCallbackRows::unadopted(CallbackId after, std::size_t limit) {
    TRY(const auto looked,
        session_.query(
            "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM conversation_callbacks WHERE id>? ORDER "
            "BY id LIMIT " +
                std::to_string(limit) + ") c",
            {after.value}));
    Columns columns(looked.at(0));
    UnadoptedChunk chunk;
    chunk.is_last = columns.number() < static_cast<std::int64_t>(limit);
    chunk.looked_until = {columns.number_or_null().value_or(after.value)};
    if (chunk.looked_until == after) return chunk;
    TRY(const auto rows,
        session_.query(
            "SELECT c.id FROM conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id "
            "WHERE c.id>? AND c.id<=? AND c.status='ACTIVE' AND p.callback_id IS NULL ORDER BY c.id",
            {after.value, chunk.looked_until.value}));
    for (const SqlRow& row : rows) chunk.ids.push_back({Columns(row).number()});
    return chunk;
}

Result<std::optional<UnadoptedCallback>> MysqlCallbackRows::read_unadopted(CallbackId id) {
    return unadopted_callback(id, "");
}

Result<std::optional<UnadoptedCallback>> MysqlCallbackRows::lock_unadopted(CallbackId id) {
    return unadopted_callback(id, "FOR UPDATE");
}

Result<std::optional<UnadoptedCallback>> MysqlCallbackRows::unadopted_callback(CallbackId id,
                                                                               const std::string& lock) {
    TRY(const auto rows,
        session_.query("SELECT c.id, c.conversation_id, c.processor_type, c.processor_json, c.created_at, "
                       "(SELECT i.told FROM imported_rows i WHERE i.callback_id=c.id) FROM "
                       "conversation_callbacks c WHERE c.id=? AND c.status='ACTIVE' AND NOT EXISTS "
                       "(SELECT 1 FROM callback_progress p WHERE p.callback_id=c.id) " +
                           lock,
                       {id.value}));
    if (rows.empty()) return std::optional<UnadoptedCallback>();
    Columns columns(rows[0]);
    UnadoptedCallback row;
    row.id = {columns.number()};
    row.conversation_id = columns.text();
    row.processor_type = columns.text();
    row.processor_json = columns.text();
    row.created_at = columns.instant();
    row.told = columns.text();
    return std::optional(std::move(row));
}

Result<void> MysqlCallbackRows::insert_progress(const CallbackRow& row) {
    TRY_VOID(
        session_.execute("INSERT INTO callback_progress (callback_id, conversation_id, phase, reason, "
                         "turn_key, options, idempotency_key, adopted_at, "
                         "generation) VALUES (?,?,?,?,?,?,?,UTC_TIMESTAMP(6),1)",
                         {row.id.value, row.conversation_id, std::string(name_of(row.state.phase)),
                          sql_value_or_null(row.state.reason), sql_value_or_null(row.state.last_turn_key),
                          to_json(row.options), sql_value_or_null(row.idempotency_key)}));
    return {};
}

Result<CallbackId> MysqlCallbackRows::insert(const CallbackRow& row) {
    TRY_VOID(
        session_.execute("INSERT INTO conversation_callbacks (conversation_id, status, processor_type, "
                         "processor_json, created_at, updated_at) "
                         "VALUES (?,?,?,?,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))",
                         {row.conversation_id, std::string(name_of(status_of(row.state.phase))),
                          row.processor_type, row.processor_json}));
    TRY(const auto rows, session_.query("SELECT LAST_INSERT_ID()"));
    CallbackRow numbered = row;
    numbered.id = {Columns(rows.at(0)).number()};
    TRY_VOID(insert_progress(numbered));
    return numbered.id;
}

Result<std::optional<CallbackId>> MysqlCallbackRows::with_idempotency_key(const std::string& key) {
    TRY(const auto rows,
        session_.query("SELECT callback_id FROM callback_progress WHERE idempotency_key=?", {key}));
    if (rows.empty()) return std::optional<CallbackId>();
    return std::optional(CallbackId{Columns(rows[0]).number()});
}

Result<IdempotentRequest> MysqlCallbackRows::save_idempotency_key(const IdempotentRequest& request) {
    constexpr const char* is_over = "created_at < UTC_TIMESTAMP(6) - INTERVAL 24 HOUR";
    // Each call removes what is over, the oldest first: so two that meet here wait, and do not deadlock.
    TRY_VOID(session_.execute(std::string("DELETE FROM kept_requests WHERE ") + is_over +
                                  " AND request_key<>? ORDER BY created_at LIMIT 100",
                              {request.key}));
    const auto kept_or_new = [&](const std::string& column) {
        return column + "=IF(" + is_over + ", VALUES(" + column + "), " + column + ")";
    };
    TRY_VOID(
        session_.execute("INSERT INTO kept_requests (request_key, body_sha256, registration, created_at) "
                         "VALUES (?,?,?,UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE " +
                             kept_or_new("body_sha256") + ", " + kept_or_new("registration") + ", " +
                             kept_or_new("created_at"),
                         {request.key, request.body_sha256, request.registration}));
    TRY(const auto rows,
        session_.query("SELECT body_sha256, registration FROM kept_requests WHERE request_key=?",
                       {request.key}));
    Columns columns(rows.at(0));
    IdempotentRequest kept;
    kept.key = request.key;
    kept.body_sha256 = columns.text();
    kept.registration = columns.text();
    return kept;
}

Result<void> MysqlCallbackRows::point_idempotency_key(const std::string& key,
                                                      const std::string& registration) {
    TRY_VOID(
        session_.execute("UPDATE kept_requests SET registration=? WHERE request_key=?", {registration, key}));
    return {};
}

}  // namespace epilogue
