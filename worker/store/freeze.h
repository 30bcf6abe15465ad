// A summary that is owed is frozen once: with what the agent server said, or, when the time is up, as the log
// alone made it. The first transaction that freezes it decides; every post of the turn shows the same.
#pragma once

#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// Freezes `row`, which was read as owed, without the agent's words; `row` becomes what the table holds then.
/// False when it was frozen meanwhile. Errors: the database's.
Result<bool> freeze_without_agent(Transaction& transaction, SummaryRow& row);

/// Freezes `row`, as its holder has made it, and lets the turn's posts be due. Returns those. Errors: fenced
/// (fence.h) when it is frozen already, or another has taken it over.
Result<std::vector<DeliveryRow>> freeze_and_release(Transaction& transaction, const SummaryRow& row);

/// Since when the posts of a turn are due whose summary was frozen at `now`. That they waited for the summary
/// is no delay, but posts that were late before that stay late (overdue_after).
Instant due_since(const SummaryRow& row, Instant now);

}  // namespace epilogue
