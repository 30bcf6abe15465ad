// The end that a conversation had come to before a callback began to watch it (contract §4, late
// registration).
#pragma once

#include "sinks/processor.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// True when no turn is open and one has ended of which `place` was not told yet.
Result<bool> has_untold_end(Transaction& transaction, const std::string& conversation_id,
                            const Conversation& conversation, const Processor& place);

}  // namespace epilogue
