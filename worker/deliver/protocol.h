// The posting protocol of one claimed delivery (sinks.md §2): look-up when the last try is unknown -> durable
// intent -> one request -> classify -> record. One transaction a step; no database session is held over HTTP.
#pragma once

#include "sinks/port/transport.h"
#include "worker/deliver/claim.h"
#include "worker/deliver/duplicates.h"
#include "worker/deliver/sender_clock.h"
#include "worker/deliver/sender_rules.h"
#include "worker/store/store.h"

namespace epilogue {

/// Thread-safe.
class PostingProtocol {
  public:
    /// `transport`, `rules`, `observer`, `clock` and `duplicates` have to outlive it.
    PostingProtocol(Store& store, const Transport& transport, const SenderRules& rules,
                    const SenderObserver& observer, const SenderClock& clock,
                    const DuplicateRemover& duplicates)
        : store_(store),
          transport_(transport),
          rules_(rules),
          observer_(observer),
          clock_(clock),
          duplicates_(duplicates) {}

    /// Does the delivery's next step: a look-up, or a post (after a look-up when it is overdue), and records
    /// what came of it. Does nothing when the lease is too short for a request. Errors: the database's;
    /// fenced (fence.h) when another sender has taken the delivery.
    Result<void> run(ClaimedDelivery& claimed) const;

  private:
    bool lease_holds(const ClaimedDelivery& claimed) const;
    Result<bool> look_before_sending(ClaimedDelivery& claimed) const;
    DeliveryEvent look(ClaimedDelivery& claimed) const;
    Result<DeliveryEvent> send(ClaimedDelivery& claimed) const;
    DeliveryEvent event_of(const Attempt& attempt, const ClaimedDelivery& claimed) const;
    Result<void> record(ClaimedDelivery& claimed, const DeliveryEvent& event) const;
    Result<DeliveryRow> row_after(const ClaimedDelivery& claimed, const DeliveryRow& stored,
                                  const DeliveryEvent& event, Instant now) const;
    Result<void> record_answer(Transaction& transaction, const ClaimedDelivery& claimed, DeliveryRow& next,
                               Instant now) const;

    Store& store_;
    const Transport& transport_;
    const SenderRules& rules_;
    const SenderObserver& observer_;
    const SenderClock& clock_;
    const DuplicateRemover& duplicates_;
};

}  // namespace epilogue
