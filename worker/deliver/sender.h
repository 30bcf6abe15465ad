// What the outbox calls for one delivery: claim it (claim.h), run the posting protocol (protocol.h), or check
// its place for duplicates (duplicates.h).
#pragma once

#include <string>
#include <utility>

#include "base/ids.h"
#include "sinks/port/transport.h"
#include "worker/deliver/claim.h"
#include "worker/deliver/duplicates.h"
#include "worker/deliver/protocol.h"
#include "worker/deliver/sender_clock.h"
#include "worker/deliver/sender_rules.h"
#include "worker/store/store.h"

namespace epilogue {

/// Thread-safe: deliveries are independent of each other.
class Sender {
  public:
    /// `store` and `sinks` have to outlive it; `transport` makes the sinks' requests.
    Sender(Store& store, const SinksInUse& sinks, Transport transport, SenderRules rules,
           SenderObserver observer, SenderClock clock)
        : store_(store),
          transport_(std::move(transport)),
          rules_(std::move(rules)),
          observer_(std::move(observer)),
          clock_(std::move(clock)),
          claimer_(store, sinks, rules_, clock_),
          duplicates_(store, transport_, rules_, observer_, clock_),
          protocol_(store, transport_, rules_, observer_, clock_, duplicates_) {}
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// Claims the delivery and does the next step, at most one call of its sink; returns at once when it is
    /// not due, leased by another sender, or not the oldest open one of its callback, and when its turn has
    /// not come (permits.h) or its credential is refused (credentials.h). True when it did something. Errors:
    /// the database's; the row then waits for its lease to pass.
    Result<bool> deliver(const DeliveryId& delivery_id) const;

    /// The same for a delivery that is parked for its credential, when that is due to be tried again.
    Result<bool> probe(const DeliveryId& delivery_id) const;

    /// Looks whether a SENT delivery has duplicates on the platform and removes all but the oldest. True when
    /// it looked. Errors: the database's.
    Result<bool> remove_duplicates(const DeliveryId& delivery_id) const;

    /// Tells the observer of a delivery that has just become durable.
    void planned(const DeliveryRow& row) const { observer_.changed(row); }

    /// Parks or releases the deliveries that wait for the credential. Errors: the database's.
    Result<void> settle(const std::string& credential) const;

  private:
    Result<bool> attempt(const DeliveryId& delivery_id, Purpose purpose) const;

    Store& store_;
    const Transport transport_;
    const SenderRules rules_;
    const SenderObserver observer_;
    const SenderClock clock_;
    const DeliveryClaimer claimer_;
    const DuplicateRemover duplicates_;
    const PostingProtocol protocol_;
};

}  // namespace epilogue
