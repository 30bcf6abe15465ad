// Requests that the reconciler (worker/agents/reconciler.h) asks a conversation's agent server what the topic
// did not tell; queued in the transaction that finds the need.
#pragma once

#include "base/ids.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// Queues the request, not to be worked at before `at`, when the conversation has an agent server: one of its
/// own, or the configured one (`has_default`). False when there is none to ask. Errors: the database's.
Result<bool> queue_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                             ReconcileReason why, Instant at, bool has_default);

/// Whether the topic may have lost what a callback is to hear of: no turn is known, or one is open and no
/// event of it has come for a minute.
bool is_in_doubt(const Conversation& conversation, Instant now);

/// Queues the request of a callback that begins to watch at `now`, when it needs one. The topic comes first,
/// so the server is asked a few seconds later; about an open turn, once no event of it has come for a minute.
/// Errors: the database's.
Result<void> request_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                               const Conversation& conversation, Instant now, bool has_default);

/// The same for a callback that watches already, when an operator wants to know at once: what is to be asked
/// is due at `now`, and is asked for as long as from its beginning. False when nothing is to be asked, or no
/// server is known. Errors: the database's.
Result<bool> hurry_reconcile(Transaction& transaction, const ConversationId& conversation_id,
                             const Conversation& conversation, Instant now, bool has_default);

}  // namespace epilogue
