#include "worker/deliver/breakers.h"

#include "base/io/log.h"
#include "worker/deliver/permits.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {

Breaker& breaker_of(CredentialRow& row, Call call) {
    return call == Call::write ? row.posts : row.look_ups;
}

const Breaker& breaker_of(const CredentialRow& row, Call call) {
    return call == Call::write ? row.posts : row.look_ups;
}

Passage passage_of(const CredentialRow& row, Call call, Instant now, bool is_held) {
    const Passage passage = breaker_of(row, call).passage(now, is_held);
    const auto& look_up_at = row.look_ups.probe_at;
    const bool look_up_comes_first =
        call == Call::write && look_up_at && now < *look_up_at + Breaker::left_to_look_ups;
    return passage == Passage::probe && look_up_comes_first ? Passage::wait : passage;
}

Result<bool> hold(Transaction& transaction, Call call, ClaimedDelivery& claimed) {
    DeliveryRow& row = claimed.row;
    const std::string queue =
        call == Call::write ? claimed.quota.window : look_queue_of(claimed.quota.credential);
    if (!row.next_attempt_at && row.rate_window == queue) return false;
    row.credential = claimed.quota.credential;
    row.rate_window = queue;
    row.next_attempt_at.reset();
    TRY_VOID(join_queue(transaction, queue, claimed.claimed_at));
    return true;
}

Result<BreakerChange> note_platform(Transaction& transaction, const ClaimedDelivery& claimed, Instant now,
                                    double random01) {
    const bool failed = claimed.platform == PlatformState::failed;
    const bool says_nothing = claimed.platform == PlatformState::not_asked ||
                              (!failed && breaker_of(claimed.credential, claimed.asked).failures == 0);
    if (says_nothing || claimed.quota.credential.empty()) return BreakerChange::none;
    CredentialRows& rows = transaction.credentials();
    TRY(const CredentialRow before, rows.lock(claimed.quota.credential));
    CredentialRow row = before;
    Breaker& breaker = breaker_of(row, claimed.asked);
    const bool was_open = breaker.is_open();
    if (failed)
        breaker.record_failure(claimed.row.target, claimed.claimed_at, now, random01);
    else
        breaker.record_answer(claimed.claimed_at, now);
    if (row != before) TRY_VOID(rows.update(claimed.quota.credential, row));
    if (breaker.is_open()) return was_open ? BreakerChange::stays_open : BreakerChange::opened;
    return was_open ? BreakerChange::closed : BreakerChange::none;
}

void tell(const ClaimedDelivery& claimed, BreakerChange change) {
    if (change == BreakerChange::none || change == BreakerChange::stays_open) return;
    const std::string calls(name_of(claimed.asked));
    if (change == BreakerChange::opened)
        log_warn("a platform is down: what it is owed waits, and one call every few seconds asks for it",
                 {{"credential", claimed.quota.credential},
                  {"calls", calls},
                  {"why", claimed.row.progress.cause}});
    else
        log_info("a platform is back: what waited for it goes on",
                 {{"credential", claimed.quota.credential}, {"calls", calls}});
}

}  // namespace epilogue
