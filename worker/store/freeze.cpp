#include "worker/store/freeze.h"

#include "base/mutant.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/fence.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

Result<void> put_frozen(Transaction& transaction, SummaryRow row) {
    row.owed = false;
    row.generation.value += 1;
    row.lease_until.reset();
    return transaction.summaries().update(row);
}

}  // namespace

Instant due_since(const SummaryRow& row, Instant now) {
    const bool was_late = row.ended_at && row.created_at - *row.ended_at > overdue_after;
    return was_late ? *row.ended_at : now;
}

Result<bool> freeze_without_agent(Transaction& transaction, SummaryRow& row) {
    TRY(const auto locked, transaction.summaries().lock({row.conversation_id, row.turn_key}));
    if (!locked) return fatal("the summary of turn " + row.turn_key + " is gone");
    row = *locked;
    if (!row.owed) return false;
    TRY_VOID(put_frozen(transaction, row));
    return true;
}

Result<std::vector<DeliveryRow>> freeze_and_release(Transaction& transaction, const SummaryRow& row) {
    const TurnId turn{row.conversation_id, row.turn_key};
    // A sender locks its delivery first, and then the summary.
    TRY(auto deliveries, transaction.deliveries().lock_of(turn));
    TRY(const auto locked, transaction.summaries().lock(turn));
    const bool is_ours = locked && locked->owed && locked->generation == row.generation;
    if (!is_ours && !mutant(Mutant::summary_frozen_twice))
        return fenced("the summary of turn " + row.turn_key);
    TRY_VOID(put_frozen(transaction, row));
    TRY(const Instant now, transaction.now());
    std::vector<DeliveryRow> released;
    for (DeliveryRow& delivery : deliveries) {
        const bool waits = delivery.progress.state == DeliveryState::planned && delivery.next_attempt_at &&
                           *delivery.next_attempt_at > now;
        if (!waits) continue;
        delivery.next_attempt_at = due_since(row, now);
        TRY_VOID(transaction.deliveries().update(delivery));
        released.push_back(std::move(delivery));
    }
    return released;
}

}  // namespace epilogue
