// The breakers of a credential (core/breaker.h), which the whole pool shares in the credential's row: one for
// its posts and one for its look-ups. A delivery that meets an open one waits in a queue without a time; the
// sweeper offers one of them as the probe.
#pragma once

#include "worker/core/breaker.h"
#include "worker/core/rate_window.h"
#include "worker/deliver/claim.h"
#include "worker/store/credential_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// The row's breaker for that kind of call.
Breaker& breaker_of(CredentialRow& row, Call call);
const Breaker& breaker_of(const CredentialRow& row, Call call);

/// What a call of the credential may do at `now`. A post is no probe while a look-up can be one: a look-up
/// leaves nothing behind when its answer is lost. `is_held`: as Breaker::passage.
Passage passage_of(const CredentialRow& row, Call call, Instant now, bool is_held);

/// Queues the claimed delivery until the platform is back; false when it is in that queue already. Errors of
/// this and the following function: the database's.
Result<bool> hold(Transaction& transaction, Call call, ClaimedDelivery& claimed);

enum class BreakerChange {
    none,
    opened,
    stays_open,
    closed,
};

/// Records what the delivery's call showed of the platform.
Result<BreakerChange> note_platform(Transaction& transaction, const ClaimedDelivery& claimed, Instant now,
                                    double random01);

/// Says in the log that a breaker was opened or closed.
void tell(const ClaimedDelivery& claimed, BreakerChange change);

}  // namespace epilogue
