#include "worker/deliver/permits.h"

#include <algorithm>

#include "base/mutant.h"
#include "sinks/port/sink.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {
namespace {

/// After which a read asks again at the latest: the call that holds it up mostly ends long before its lease,
/// and a read is in no queue that would be served then.
constexpr std::chrono::seconds ask_again{5};

/// Over how long look-ups are spread that find their budget used up.
constexpr std::chrono::seconds look_spread{15};

void begin_queue(RateWindow& window, Instant now) {
    if (!window.waiting) window.served_at = now;
    window.waiting = true;
}

}  // namespace

RateSignal rate_signal_of(const LookupResult& lookup) {
    return {lookup.rate_limited, lookup.not_before, !lookup.ok && !lookup.rate_limited, lookup.is_estimate};
}

LookFailure why_failed(const LookupResult& lookup) {
    if (lookup.rate_limited) return LookFailure::rate;
    return lookup.platform == PlatformState::failed ? LookFailure::platform : LookFailure::unusable;
}

Result<tl::expected<Permit, NotYet>> acquire_permit(Transaction& transaction, const Quota& quota, Call call,
                                                    std::optional<Instant> queued_since, Instant now,
                                                    Instant until) {
    Permit permit;
    permit.call = call;
    permit.begun = now;
    permit.window = call == Call::write ? quota.window : quota.look_window;
    if (permit.window == quota.window) permit.limits = quota.limits;
    if (permit.window.empty()) return permit;
    if (mutant(Mutant::held_posts_let_go_at_once) && queued_since) return permit;
    const bool counts_look = call == Call::read && !quota.look_limits.empty();
    RateLimitRows& rows = transaction.rate_limits();
    RateWindow window;
    bool is_noted = false;
    const auto may_begin = [&] {
        if (window.next(call, permit.limits) > now) return false;
        permit.was_refused = window.refusals > 0;
        is_noted = queued_since && window.serve(permit.limits, now);
        permit.unattended = queued_since && *queued_since < window.unattended_until;
        return true;
    };
    // An open window that does not count this call needs no lock; most windows are that most of the time.
    TRY(window, rows.read(permit.window));
    if (!counts_look && !window.keeps(call, permit.limits) && may_begin() && !is_noted) return permit;
    const auto budget_is_used_up = [&] { return counts_look && window.next_look(quota.look_limits) > now; };
    if (budget_is_used_up()) return tl::unexpected(NotYet{window.next_look(quota.look_limits), look_spread});
    if (call == Call::write && window.waiting && window.next(call, permit.limits) > now) {
        // Many deliveries may be queued at the same time: a shared lock is enough to see that the row says
        // so, and that close_empty_queue() cannot change it before they are committed.
        TRY(window, rows.share_lock(permit.window));
        if (window.waiting) return tl::unexpected(NotYet{window.next(call, permit.limits)});
    }
    TRY(window, rows.lock(permit.window));
    if (budget_is_used_up()) return tl::unexpected(NotYet{window.next_look(quota.look_limits), look_spread});
    Instant next = window.next(call, permit.limits);
    if (call == Call::read) next = std::min(next, std::max(window.closed_until, now + ask_again));
    bool may_go = may_begin();
    if (may_go && call == Call::write && !queued_since && window.waiting) {
        TRY(const auto heads, rows.queue_heads(permit.window, 1));
        may_go = heads.empty();
    }
    if (may_go) {
        const bool keeps = window.keeps(call, permit.limits);
        if (!keeps && !counts_look && !is_noted) return permit;
        if (keeps) window.begin(permit.until.emplace(until));
        if (counts_look) window.begin_look(quota.look_limits, now);
    } else if (call == Call::write && !window.waiting) {
        begin_queue(window, now);
    } else {
        return tl::unexpected(NotYet{next});
    }
    TRY_VOID(rows.update(permit.window, window, window.next(Call::write, permit.limits)));
    if (!may_go) return tl::unexpected(NotYet{next});
    return permit;
}

Result<std::optional<Instant>> release_permit(Transaction& transaction, const Permit& permit,
                                              const RateSignal& signal, bool is_queued_now, Instant now,
                                              double random01) {
    if (permit.window.empty() || (!permit.until && !permit.was_refused && !signal.refused))
        return std::nullopt;
    RateLimitRows& rows = transaction.rate_limits();
    TRY(RateWindow window, rows.lock(permit.window));
    if (permit.until) window.end(permit.call, *permit.until, permit.limits, now);
    if (signal.refused) {
        window.record_refusal(permit.begun, now);
        window.closed_until = std::max(
            window.closed_until,
            now + pause_after_refusal(signal.not_before, signal.is_estimate, window.refusals, random01));
    } else if (!signal.silent) {
        window.record_success(permit.begun);
    }
    if (is_queued_now) begin_queue(window, now);
    TRY_VOID(rows.update(permit.window, window, window.next(Call::write, permit.limits)));
    return signal.refused ? std::optional(window.closed_until) : std::nullopt;
}

Result<void> join_queue(Transaction& transaction, const std::string& queue, Instant now) {
    RateLimitRows& rows = transaction.rate_limits();
    TRY(RateWindow window, rows.read(queue));
    // Shared: close_empty_queue() cannot change the row before this transaction is committed.
    if (window.waiting) {
        TRY(window, rows.share_lock(queue));
    }
    return window.waiting ? Result<void>() : open_queue(transaction, queue, now);
}

Result<void> open_queue(Transaction& transaction, const std::string& name, Instant now) {
    RateLimitRows& rows = transaction.rate_limits();
    TRY(RateWindow window, rows.lock(name));
    begin_queue(window, now);
    return rows.update(name, window, window.next(Call::write, {}));
}

Result<void> close_empty_queue(Store& store, const std::string& window) {
    const auto work = [&](Transaction& transaction) -> Result<void> {
        RateLimitRows& rows = transaction.rate_limits();
        // A transaction that queues a delivery holds the row until it is committed.
        TRY(RateWindow row, rows.lock(window));
        TRY(const bool has_queue, rows.has_queue(window));
        if (has_queue || !row.waiting) return {};
        row.waiting = false;
        return rows.update(window, row, row.next(Call::write, {}));
    };
    return store.transact_idempotent(work);
}

}  // namespace epilogue
