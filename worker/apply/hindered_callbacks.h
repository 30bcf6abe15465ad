// What keeps an agent server from telling about a conversation, noted on the callbacks that wait for it.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "worker/core/callback.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// Steps all callbacks of the conversation by `event` (LogUnread or LogRead), and writes those that change.
/// The caller has locked the conversation. Errors: the database's.
Result<void> step_callbacks(Transaction& transaction, const ConversationId& conversation_id,
                            const CallbackEvent& event);

}  // namespace epilogue
