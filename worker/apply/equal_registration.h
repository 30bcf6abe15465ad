// Registrations that are one wish: the same place asks twice to hear the same of a conversation (contract
// §4).
#pragma once

#include <optional>

#include "worker/store/callback_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// The oldest callback of `wanted`'s conversation that is still to report a turn, to the same place, in the
/// same mode and for the same triggers; locked. nullopt: none. The caller has locked the conversation.
/// Errors: poison for a processor that cannot be used; else the database's.
Result<std::optional<CallbackRow>> lock_equal(Transaction& transaction, const CallbackRow& wanted);

}  // namespace epilogue
