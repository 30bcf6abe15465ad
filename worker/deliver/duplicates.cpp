#include "worker/deliver/duplicates.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/mutant.h"
#include "worker/deliver/breakers.h"

namespace epilogue {

bool DuplicateRemover::may_check(const ClaimedDelivery& claimed) const {
    return rules_.dedup_after.count() > 0 && claimed.sink->duplicate_check() != DuplicateCheck::never &&
           !mutant(Mutant::dedup_switched_off);
}

bool DuplicateRemover::needs_check(const ClaimedDelivery& claimed, const DeliveryEvent& event,
                                   const DeliveryRow& next) const {
    if (!may_check(claimed)) return false;
    const bool is_sent = next.progress.state == DeliveryState::sent;
    if (claimed.sink->duplicate_check() == DuplicateCheck::always) return is_sent;
    return next.progress.state == DeliveryState::unknown || std::holds_alternative<FoundOnPlatform>(event) ||
           (is_sent && next.dedup_due_at);
}

Result<void> DuplicateRemover::request_check(const ClaimedDelivery& claimed) const {
    if (!may_check(claimed)) return {};
    log_warn("a sender lost its lease on the way; the delivery will be checked for twins",
             {{"delivery", claimed.row.id}});
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.deliveries().lock(claimed.row.id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->progress.state == DeliveryState::failed) return {};
        stored->dedup_due_at = now + rules_.dedup_after;
        return transaction.deliveries().update(*stored);
    };
    return store_.transact_idempotent(work);
}

bool DuplicateRemover::remove_all_but_oldest(const ClaimedDelivery& claimed,
                                             const LookupResult& lookup) const {
    bool all = true;
    for (std::size_t i = 1; i < lookup.found.size(); ++i) {
        const bool removed =
            run(claimed.sink->remove(claimed.post(), lookup.found[i]), transport_, rules_.http_timeout);
        if (removed) observer_.duplicate_removed(claimed.row.sink);
        all = all && removed;
    }
    return all;
}

/// When the row is checked again; nullopt: never, because the check is over, or its look-ups were answered
/// with nothing of use for too long. Those that fail come ever more seldom.
std::optional<Instant> DuplicateRemover::next_check(const ClaimedDelivery& claimed,
                                                    const LookupResult& lookup, bool over, Instant now,
                                                    DeliveryProgress& progress) const {
    constexpr std::chrono::minutes longest{10};
    if (lookup.ok)
        progress.forget_failed_looks();
    else
        progress.count_failed_look(why_failed(lookup));
    if (over || progress.unusable_looks >= most_unusable_looks) {
        if (!over)
            log_warn("a post cannot be checked for twins",
                     {{"delivery", claimed.row.id}, {"why", lookup.cause}});
        return std::nullopt;
    }
    if (progress.look_failures < 2) return now + rules_.dedup_after;
    return now + rules_.dedup_after +
           full_jitter(progress.look_failures, clock_.random01(), rules_.dedup_after, longest);
}

Result<void> DuplicateRemover::check(ClaimedDelivery& claimed) const {
    const LookupResult lookup = run(claimed.sink->find(claimed.post()), transport_, rules_.http_timeout);
    claimed.rate = rate_signal_of(lookup);
    claimed.asked = Call::read;
    claimed.platform = lookup.ok ? PlatformState::answered : lookup.platform;
    observer_.looked(claimed.row.sink, !lookup.ok ? "failed" : lookup.found.empty() ? "absent" : "found");
    const bool over = lookup.ok ? remove_all_but_oldest(claimed, lookup) : lookup.forbidden;
    BreakerChange change = BreakerChange::none;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.deliveries().lock(claimed.row.id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->generation != claimed.row.generation) return {};
        TRY(change, note_platform(transaction, claimed, now, clock_.random01()));
        TRY(const auto closed_until,
            release_permit(transaction, claimed.permit, claimed.rate, false, now, clock_.random01()));
        stored->generation.value += 1;
        stored->lease_until = now;
        stored->crashes = 0;
        stored->dedup_due_at = next_check(claimed, lookup, over, now, stored->progress);
        if (stored->dedup_due_at && closed_until)
            stored->dedup_due_at = std::max(*stored->dedup_due_at, *closed_until);
        return transaction.deliveries().update(*stored);
    };
    TRY_VOID(store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.deliveries().lock(claimed.row.id));
        return !stored || stored->generation > claimed.row.generation;
    }));
    tell(claimed, change);
    return {};
}

}  // namespace epilogue
