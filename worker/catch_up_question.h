// The question that begins a catch-up (catch_ups.h), asked in the transaction that finds it.
#pragma once

#include "worker/store.h"

namespace epilogue {

/// Queues the question, not to be worked at before `at`, when the conversation has an agent server: one of
/// its own, or `has_default`. False when there is none to ask.
Result<bool> ask_agent_server(Transaction& transaction, const std::string& conversation_id, CatchUpWhy why,
                              Instant at, bool has_default);

}  // namespace epilogue
