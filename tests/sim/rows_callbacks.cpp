// The callbacks, as a transaction sees them.
#include <algorithm>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {

const CallbackRow* SimCallbackRows::callback(CallbackId id) const {
    const auto changed = transaction_.changes().callbacks.find(id);
    if (changed != transaction_.changes().callbacks.end()) return &changed->second;
    const auto found = transaction_.database().callbacks.find(id);
    return found == transaction_.database().callbacks.end() ? nullptr : &found->second;
}

Result<std::vector<CallbackRow>> SimCallbackRows::lock_active(
    const std::vector<ConversationId>& conversation_ids) {
    TRY_VOID(transaction_.statement());
    std::vector<CallbackId> ids;
    for (const auto& [id, row] : transaction_.database().callbacks)
        if (std::find(conversation_ids.begin(), conversation_ids.end(), row.conversation_id) !=
            conversation_ids.end())
            ids.push_back(id);
    std::vector<CallbackRow> rows;
    for (const CallbackId id : ids) {
        TRY_VOID(transaction_.lock('b', std::to_string(id.value)));
        const CallbackRow& row = *callback(id);
        if (status_of(row.state.phase) == CallbackStatus::active) rows.push_back(row);
    }
    return rows;
}

Result<std::vector<ConversationId>> SimCallbackRows::watched_among(
    const std::vector<ConversationId>& conversation_ids) {
    TRY_VOID(transaction_.statement());
    std::vector<ConversationId> watched;
    for (const auto& [id, row] : transaction_.database().callbacks)
        if (status_of(row.state.phase) == CallbackStatus::active &&
            std::find(conversation_ids.begin(), conversation_ids.end(), row.conversation_id) !=
                conversation_ids.end())
            watched.push_back(row.conversation_id);
    return watched;
}

Result<std::optional<CallbackRow>> SimCallbackRows::read(CallbackId id) {
    TRY_VOID(transaction_.statement());
    const CallbackRow* row = callback(id);
    return row == nullptr ? std::optional<CallbackRow>() : std::optional(*row);
}

Result<std::optional<CallbackRow>> SimCallbackRows::lock(CallbackId id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('b', std::to_string(id.value)));
    const CallbackRow* row = callback(id);
    return row == nullptr ? std::optional<CallbackRow>() : std::optional(*row);
}

Result<void> SimCallbackRows::update_state(CallbackId id, const CallbackState& state) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('b', std::to_string(id.value)));
    CallbackRow row = *callback(id);
    row.state = state;
    transaction_.changes().callbacks[id] = std::move(row);
    return {};
}

Result<UnadoptedChunk> SimCallbackRows::unadopted(CallbackId after, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const auto& foreign = transaction_.database().foreign;
    UnadoptedChunk chunk{{}, after, false};
    auto row = foreign.upper_bound(after);
    for (; row != foreign.end() && chunk.ids.size() < limit; ++row) {
        chunk.ids.push_back(row->first);
        chunk.looked_until = row->first;
    }
    chunk.is_last = row == foreign.end();
    return chunk;
}

Result<std::optional<UnadoptedCallback>> SimCallbackRows::read_unadopted(CallbackId id) {
    TRY_VOID(transaction_.statement());
    const auto found = transaction_.database().foreign.find(id);
    if (found == transaction_.database().foreign.end() || callback(id) != nullptr)
        return std::optional<UnadoptedCallback>();
    return std::optional(found->second);
}

Result<std::optional<UnadoptedCallback>> SimCallbackRows::lock_unadopted(CallbackId id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('b', std::to_string(id.value)));
    return read_unadopted(id);
}

Result<void> SimCallbackRows::insert_progress(const CallbackRow& row) {
    TRY_VOID(transaction_.statement());
    CallbackRow stored = row;
    stored.adopted_at = transaction_.database().now();
    transaction_.changes().callbacks[row.id] = std::move(stored);
    return {};
}

Result<CallbackId> SimCallbackRows::insert(const CallbackRow& row) {
    TRY_VOID(transaction_.statement());
    const CallbackId id{transaction_.database().next_callback++};
    TRY_VOID(transaction_.lock('b', std::to_string(id.value)));
    TRY_VOID(transaction_.lock('k', row.idempotency_key));
    constexpr int duplicate_key = 1062;
    if (transaction_.database().idempotency_keys.count(row.idempotency_key) > 0)
        return retryable("duplicate key", duplicate_key);
    CallbackRow stored = row;
    stored.id = id;
    stored.adopted_at = transaction_.database().now();
    transaction_.changes().callbacks[id] = std::move(stored);
    return id;
}

Result<std::optional<CallbackId>> SimCallbackRows::with_idempotency_key(const std::string& key) {
    TRY_VOID(transaction_.statement());
    const auto found = transaction_.database().idempotency_keys.find(key);
    return found == transaction_.database().idempotency_keys.end() ? std::optional<CallbackId>()
                                                                   : std::optional(found->second);
}

/// No request of the simulated world comes by the API: each is the first of its key.
Result<IdempotentRequest> SimCallbackRows::save_idempotency_key(const IdempotentRequest& request) {
    TRY_VOID(transaction_.statement());
    return request;
}

Result<void> SimCallbackRows::point_idempotency_key(const std::string& /*key*/,
                                                    const std::string& /*registration*/) {
    return transaction_.statement();
}

}  // namespace epilogue::sim
