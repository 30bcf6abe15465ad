// The first step of a delivery: one transaction leases the row and decides whether its call may be made now.
// A call needs a due row without a lease, no older open delivery of its callback, a credential that the
// platform does not refuse (credentials.h), a platform that is not down (breakers.h), and a permit of its
// rate window (permits.h).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "schemas/summary.h"
#include "sinks/port/sink.h"
#include "sinks/processor.h"
#include "worker/deliver/permits.h"
#include "worker/deliver/sender_clock.h"
#include "worker/deliver/sender_rules.h"
#include "worker/deliver/sinks_in_use.h"
#include "worker/store/callback_rows.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

/// What a delivery is claimed for.
enum class Purpose {
    post,   ///< to be sent, or looked for after a lost answer
    probe,  ///< it is parked for its credential, and tries that for all others
    dedup,  ///< it is SENT, and its place is checked for duplicates
};

/// What the claim decided.
enum class Admission {
    granted,    ///< its call may be made
    put_off,    ///< the row says what it waits for now, or why nothing is to be done
    untouched,  ///< nothing has changed
};

/// A claimed delivery on its way through the protocol.
struct ClaimedDelivery {
    Admission admission = Admission::untouched;
    DeliveryRow row;                        ///< as this sender wrote it last
    DeliveryState found{};                  ///< the row's state before the claim
    std::chrono::nanoseconds lease_ends{};  ///< by the machine's own clock, read before the claim was sent
    Instant claimed_at;
    Instant free_since;    ///< no sender held a lease from then until the claim
    bool overdue = false;  ///< to be looked for before it is sent

    std::shared_ptr<Sink> sink;  ///< the one in use; stays alive when it is replaced meanwhile
    std::string obstacle;        ///< why there is no sink to talk to
    Target target;
    Summary summary;                ///< to be rendered; only when the row has no body yet
    std::string froze;              ///< the source of a summary that this claim had to freeze; else empty
    std::vector<DeliveryId> newer;  ///< posts that are to stay above it in the message that all are in
    Quota quota;
    Permit permit;
    CredentialRow credential;        ///< the row of its credential, when the call was granted
    std::vector<std::string> tries;  ///< refused credentials that this delivery tries for all others

    // What the platform said, once it has been asked.
    bool was_asked = false;
    Call asked = Call::write;  ///< what `platform` is about
    PlatformState platform = PlatformState::not_asked;
    RateSignal rate;
    bool credential_works = false;
    bool credential_refused = false;

    /// The row as sinks take it.
    Post post() const;
};

/// Thread-safe.
class DeliveryClaimer {
  public:
    /// `sinks`, `rules` and `clock` have to outlive it.
    DeliveryClaimer(Store& store, const SinksInUse& sinks, const SenderRules& rules, const SenderClock& clock)
        : store_(store), sinks_(sinks), rules_(rules), clock_(clock) {}

    /// Leases the delivery when its turn has come; `admission` says what came of it. Errors: the database's.
    Result<void> claim(const DeliveryId& delivery_id, Purpose purpose, ClaimedDelivery& claimed) const;

  private:
    Result<Admission> admit_post(Transaction& transaction, ClaimedDelivery& claimed) const;
    Result<Admission> admit_dedup(Transaction& transaction, ClaimedDelivery& claimed) const;
    Result<bool> must_wait_for_sibling(Transaction& transaction, ClaimedDelivery& claimed) const;
    void find_sink(const CallbackRow& callback, ClaimedDelivery& claimed) const;

    Store& store_;
    const SinksInUse& sinks_;
    const SenderRules& rules_;
    const SenderClock& clock_;
};

}  // namespace epilogue
