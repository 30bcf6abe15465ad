#include "worker/deliver/operator_verdict.h"

#include "worker/deliver/complete_callback.h"
#include "worker/deliver/credentials.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

Result<OperatorAnswer> resolve_delivery(Store& store, const DeliveryId& delivery_id, OperatorAction action,
                                        const std::string& url) {
    const DeliveryEvent event = action == OperatorAction::retry  ? DeliveryEvent{OperatorRetry{}}
                                : action == OperatorAction::sent ? DeliveryEvent{OperatorSaysSent{url}}
                                                                 : DeliveryEvent{OperatorSaysNotSent{}};
    OperatorAnswer answer = OperatorAnswer::done;
    Generation written;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        answer = OperatorAnswer::done;
        TRY(auto row, transaction.deliveries().lock(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!row) {
            answer = OperatorAnswer::no_such_delivery;
            return {};
        }
        const bool under_way = row->lease_until && *row->lease_until > now;
        const auto progress = under_way ? std::nullopt : step(row->progress, event);
        if (!progress) {
            answer = OperatorAnswer::not_now;
            return {};
        }
        row->progress = *progress;
        row->generation.value += 1;
        row->next_attempt_at = now;
        if (progress->state == DeliveryState::sent) row->sent_at = now;
        written = row->generation;
        TRY_VOID(transaction.deliveries().update(*row));
        TRY_VOID(complete_callback(transaction, *row));
        const bool goes_on = progress->state == DeliveryState::retry && !row->credential.empty();
        return goes_on ? probe_now(transaction, row->credential, now) : Result<void>();
    };
    TRY_VOID(store.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.deliveries().lock(delivery_id));
        return row && row->generation == written;
    }));
    return answer;
}

}  // namespace epilogue
