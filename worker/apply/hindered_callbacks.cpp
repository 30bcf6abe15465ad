#include "worker/apply/hindered_callbacks.h"

#include "worker/store/callback_rows.h"

namespace epilogue {

Result<void> step_callbacks(Transaction& transaction, const ConversationId& conversation_id,
                            const CallbackEvent& event) {
    TRY(const auto callbacks, transaction.callbacks().lock_active({conversation_id}));
    for (const CallbackRow& callback : callbacks) {
        const CallbackState next = step(callback.state, callback.options, event).state;
        if (next != callback.state) TRY_VOID(transaction.callbacks().update_state(callback.id, next));
    }
    return {};
}

}  // namespace epilogue
