// The question that begins a catch-up (catch_ups.h), asked in the transaction that finds it.
#pragma once

#include "worker/store/reconcile_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// Queues the question, not to be worked at before `at`, when the conversation has an agent server: one of
/// its own, or `has_default`. False when there is none to ask.
Result<bool> queue_reconcile(Transaction& transaction, const std::string& conversation_id,
                             ReconcileReason why, Instant at, bool has_default);

/// Whether a callback's watch may have missed what the topic does not tell any more: no turn is known, or one
/// is open and nothing has come of it for a minute.
bool is_in_doubt(const Conversation& conversation, Instant now);

/// Queues the question of a callback that begins to watch at `now`, when there is one: soon, but the topic
/// comes first. What has been heard of a minute before is asked about when that minute is over, should
/// nothing come.
Result<void> request_reconcile(Transaction& transaction, const std::string& conversation_id,
                               const Conversation& conversation, Instant now, bool has_default);

}  // namespace epilogue
