// Whether a turn had ended before a callback began to watch (contract §4, late registration).
#pragma once

#include "base/ids.h"
#include "sinks/processor.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// True when no turn is open and one has ended that was not reported to `place` yet. Errors: the database's.
Result<bool> has_unreported_end(Transaction& transaction, const ConversationId& conversation_id,
                                const Conversation& conversation, const Processor& place);

}  // namespace epilogue
