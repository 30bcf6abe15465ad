// Whether the call of a leased delivery may be made now: its credential is not refused, its platform not
// down, its rate window is open, and it is its turn there.
#pragma once

#include "worker/deliver/claim.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// Decides for a delivery whose sink and target are known, and notes in its row what it waits for. Fills
/// quota, permit and the credentials it tries. Part of the claim's transaction. Errors: the database's.
Result<Admission> admit(Transaction& transaction, ClaimedDelivery& claimed, const SenderClock& clock);

/// When a call that was given no permit is to ask again.
Instant drawn(const NotYet& not_yet, const SenderClock& clock);

}  // namespace epilogue
