#include "worker/apply/reconcile_request.h"

#include <algorithm>

#include "worker/core/server_log.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {
namespace {

/// Most conversations of which no event is known have just begun: the topic gets that time to tell.
constexpr std::chrono::seconds topic_comes_first{3};
/// An agent that works sends events more often than that.
constexpr std::chrono::seconds quiet_for{60};

/// Until when an open turn is not in doubt: a while after its last event.
Instant heard_of_until(const Conversation& conversation) {
    return conversation.last_event_at.value_or(Instant{}) + quiet_for;
}

}  // namespace

Result<bool> queue_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                             ReconcileReason why, Instant at, bool has_default) {
    if (!has_default) {
        TRY(const auto own, transaction.agent_endpoints().find(conversation_id));
        if (!own) return false;
    }
    ReconcileRow row;
    row.conversation_id = conversation_id;
    row.why = why;
    row.next_try_at = at;
    TRY_VOID(transaction.reconciles().request(row));
    return true;
}

bool is_in_doubt(const Conversation& conversation, Instant now) {
    const bool is_open = std::holds_alternative<Open>(conversation.turn_state);
    return is_unseen(conversation) || (is_open && heard_of_until(conversation) <= now);
}

Result<void> request_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                               const Conversation& conversation, Instant now, bool has_default) {
    const bool is_open = std::holds_alternative<Open>(conversation.turn_state);
    if (!is_open && !is_unseen(conversation)) return {};
    Instant at = now + topic_comes_first;
    if (is_open) at = std::max(at, heard_of_until(conversation));
    TRY_VOID(queue_reconcile(transaction, conversation_id, ReconcileReason::registered, at, has_default));
    return {};
}

Result<bool> hurry_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                             const Conversation& conversation, Instant now, bool has_default) {
    TRY(const auto standing, transaction.reconciles().lock(conversation_id));
    if (!standing && !is_in_doubt(conversation, now)) return false;
    const ReconcileReason why = standing ? standing->why : ReconcileReason::registered;
    return queue_reconcile(transaction, conversation_id, why, now, has_default);
}

}  // namespace epilogue
