// Agent servers and dead letters, as a transaction sees them.
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
    ReconcileRow fresh = row;
    fresh.attempts = 0;
    fresh.owner.clear();
    return update(fresh);
}

Result<std::vector<ConversationId>> SimReconcileRows::due(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<ConversationId> ids;
    for (const auto& [id, row] : transaction_.database().catch_ups)
        if (row.next_try_at <= transaction_.database().now() && ids.size() < limit) ids.push_back(id);
    return ids;
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

Result<void> SimDeadLetterRows::insert(const std::vector<DeadLetterRow>& rows) {
    if (rows.empty()) return {};
    TRY_VOID(transaction_.statement());
    auto& letters = transaction_.changes().dead_letters;
    letters.insert(letters.end(), rows.begin(), rows.end());
    return {};
}

}  // namespace epilogue::sim
