#include "worker/deliver/complete_callback.h"

#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

Result<void> complete_callback(Transaction& transaction, const DeliveryRow& delivery) {
    if (!is_final(delivery.progress.state)) return {};
    TRY(const auto callback, transaction.callbacks().lock(delivery.callback_id));
    if (!callback) return {};
    const CallbackEvent event =
        delivery.progress.state == DeliveryState::sent
            ? CallbackEvent{DeliverySent{delivery.turn_key}}
            : CallbackEvent{
                  DeliveryRefused{delivery.turn_key, delivery.progress.cause, is_notice(delivery.verdict)}};
    const CallbackState next = step(callback->state, callback->options, event).state;
    if (next == callback->state) return {};
    return transaction.callbacks().update_state(delivery.callback_id, next);
}

}  // namespace epilogue
