// Agent servers and dead letters, as a transaction sees them.
#include <algorithm>
#include <tuple>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {

Result<void> SimAgentEndpointRows::save(const AgentEndpoint& endpoint) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().endpoints[endpoint.conversation_id] = endpoint;
    return {};
}

Result<std::optional<AgentEndpoint>> SimAgentEndpointRows::find(const ConversationId& conversation_id) {
    TRY_VOID(transaction_.statement());
    const auto found = transaction_.database().endpoints.find(conversation_id);
    return found == transaction_.database().endpoints.end() ? std::optional<AgentEndpoint>()
                                                            : std::optional(found->second);
}

Result<std::vector<ConversationId>> SimAgentEndpointRows::among(
    const std::vector<ConversationId>& conversation_ids) {
    TRY_VOID(transaction_.statement());
    std::vector<ConversationId> found;
    for (const ConversationId& id : conversation_ids)
        if (transaction_.database().endpoints.contains(id)) found.push_back(id);
    return found;
}

Result<void> SimReconcileRows::request(const ReconcileRow& row) {
    TRY(const auto before, lock(row.conversation_id));
    ReconcileRow fresh = row;
    if (before && before->why == ReconcileReason::gap) fresh.why = ReconcileReason::gap;
    fresh.asked_at = transaction_.database().now();
    fresh.attempts = 0;
    fresh.owner.clear();
    fresh.hindrance.reset();
    return update(fresh);
}

Result<std::vector<DueReconcile>> SimReconcileRows::due(const std::optional<DueReconcile>& after,
                                                        std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const auto place = [](const DueReconcile& row) { return std::tie(row.next_try_at, row.conversation_id); };
    std::vector<DueReconcile> due;
    for (const auto& [id, row] : transaction_.database().catch_ups) {
        DueReconcile each{id, row.next_try_at, row.hindrance};
        if (row.next_try_at <= transaction_.database().now() && (!after || place(each) > place(*after)))
            due.push_back(std::move(each));
    }
    std::sort(due.begin(), due.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    due.resize(std::min(limit, due.size()));
    return due;
}

Result<std::optional<ReconcileRow>> SimReconcileRows::lock(const ConversationId& conversation_id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('u', conversation_id));
    const auto changed = transaction_.changes().catch_ups.find(conversation_id);
    if (changed != transaction_.changes().catch_ups.end()) return changed->second;
    const auto found = transaction_.database().catch_ups.find(conversation_id);
    return found == transaction_.database().catch_ups.end() ? std::optional<ReconcileRow>()
                                                            : std::optional(found->second);
}

Result<void> SimReconcileRows::update(const ReconcileRow& row) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('u', row.conversation_id));
    transaction_.changes().catch_ups[row.conversation_id] = row;
    return {};
}

Result<void> SimReconcileRows::remove(const ConversationId& conversation_id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('u', conversation_id));
    transaction_.changes().catch_ups[conversation_id] = std::nullopt;
    return {};
}

Result<std::size_t> SimReconcileRows::not_begun(ReconcileReason why, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const auto& rows = transaction_.database().catch_ups;
    const auto count = std::count_if(rows.begin(), rows.end(), [why](const auto& row) {
        return row.second.why == why && row.second.attempts == 0;
    });
    return std::min(static_cast<std::size_t>(count), limit);
}

Result<void> SimGapRows::insert(const GapRow& gap) {
    TRY_VOID(transaction_.statement());
    GapRow row = gap;
    row.id = transaction_.database().next_gap++;
    const auto& callbacks = transaction_.database().callbacks;
    if (!callbacks.empty()) row.last_callback = callbacks.rbegin()->first;
    transaction_.changes().gaps[row.id] = std::move(row);
    return {};
}

Result<std::optional<GapRow>> SimGapRows::lock_next() {
    TRY_VOID(transaction_.statement());
    const auto& gaps = transaction_.database().gaps;
    const auto open =
        std::find_if(gaps.begin(), gaps.end(), [](const auto& gap) { return !gap.second.is_done; });
    if (open == gaps.end() || transaction_.is_locked('g', std::to_string(open->first)))
        return std::optional<GapRow>();
    TRY_VOID(transaction_.lock('g', std::to_string(open->first)));
    return std::optional(open->second);
}

std::vector<const CallbackRow*> SimGapRows::concerned(const GapRow& gap) const {
    std::vector<const CallbackRow*> rows;
    const Database& database = transaction_.database();
    for (const auto& [id, row] : database.callbacks) {
        const auto conversation = database.conversations.find(row.conversation_id);
        const bool is_known = conversation != database.conversations.end() && !conversation->second.guessed;
        const int partition = is_known ? conversation->second.partition : -1;
        const bool waits = row.state.phase == Phase::watching || row.state.phase == Phase::dormant;
        const bool is_left = id > gap.asked_until && id <= gap.last_callback;
        if (waits && is_left && (partition == -1 || partition == gap.partition)) rows.push_back(&row);
    }
    return rows;
}

Result<GapChunk> SimGapRows::next_chunk(const GapRow& gap, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    GapChunk chunk;
    chunk.looked_until = gap.last_callback;
    for (const CallbackRow* row : concerned(gap)) {
        chunk.conversations.push_back(row->conversation_id);
        if (chunk.conversations.size() < limit) continue;
        chunk.looked_until = row->id;
        break;
    }
    return chunk;
}

Result<std::int64_t> SimGapRows::count_remaining(const GapRow& gap) {
    TRY_VOID(transaction_.statement());
    return static_cast<std::int64_t>(concerned(gap).size());
}

Result<void> SimGapRows::update(const GapRow& gap) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('g', std::to_string(gap.id)));
    transaction_.changes().gaps[gap.id] = gap;
    return {};
}

Result<void> SimDeadLetterRows::insert(const std::vector<DeadLetterRow>& rows) {
    if (rows.empty()) return {};
    TRY_VOID(transaction_.statement());
    auto& letters = transaction_.changes().dead_letters;
    letters.insert(letters.end(), rows.begin(), rows.end());
    return {};
}

}  // namespace epilogue::sim
