// The check that removes duplicates: a while after a post its place is looked at once more, and of several
// posts of the same delivery all but the oldest are removed. Two senders can post the same delivery when one
// of them stands still for longer than its lease; no client can prevent that.
#pragma once

#include "sinks/port/transport.h"
#include "worker/deliver/claim.h"
#include "worker/deliver/sender_clock.h"
#include "worker/deliver/sender_rules.h"
#include "worker/store/store.h"

namespace epilogue {

/// Thread-safe.
class DuplicateRemover {
  public:
    /// `transport`, `rules`, `observer` and `clock` have to outlive it.
    DuplicateRemover(Store& store, const Transport& transport, const SenderRules& rules,
                     const SenderObserver& observer, const SenderClock& clock)
        : store_(store), transport_(transport), rules_(rules), observer_(observer), clock_(clock) {}

    /// Whether `event`, which made the row `next`, leads to a check. A row that is not SENT yet keeps the due
    /// time as the note that it was once unknown whether it had been posted; it is checked once it is SENT.
    bool needs_check(const ClaimedDelivery& claimed, const DeliveryEvent& event,
                     const DeliveryRow& next) const;

    /// After our record was refused: another sender may have posted as well, so the row is checked, but not
    /// at once: look-ups lag behind writes, and one that sees a single post ends the check. Errors: the
    /// database's.
    Result<void> request_check(const ClaimedDelivery& claimed) const;

    /// Removes all posts that a look-up saw but the oldest. True when no duplicate is left.
    bool remove_all_but_oldest(const ClaimedDelivery& claimed, const LookupResult& lookup) const;

    /// Does the check of a delivery that was claimed for it: one look-up, the removals, and the record.
    /// Errors: the database's.
    Result<void> check(ClaimedDelivery& claimed) const;

  private:
    bool may_check(const ClaimedDelivery& claimed) const;
    std::optional<Instant> next_check(const ClaimedDelivery& claimed, const LookupResult& lookup, bool over,
                                      Instant now, DeliveryProgress& progress) const;

    Store& store_;
    const Transport& transport_;
    const SenderRules& rules_;
    const SenderObserver& observer_;
    const SenderClock& clock_;
};

}  // namespace epilogue
