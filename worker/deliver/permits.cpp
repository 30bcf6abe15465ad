#include "worker/deliver/permits.h"

#include <algorithm>

#include "base/backoff.h"
#include "sinks/port/sink.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {
namespace {

/// After which a read asks again at the latest: the call that holds it up mostly ends long before its lease,
/// and a read is in no queue that would be served then.
constexpr std::chrono::seconds ask_again{5};

/// For how long a refusal closes the window: the platform's own waiting time, and a little more after each
/// refusal, so that pools which share the limit do not come back at the same moment.
std::chrono::milliseconds pause(const RateSignal& signal, int refusals, double random01) {
    const auto backoff = full_jitter(refusals, random01);
    return signal.not_before ? *signal.not_before + backoff / 10 : backoff;
}

void begin_queue(RateWindow& window, Instant now) {
    if (!window.waiting) window.served_at = now;
    window.waiting = true;
}

}  // namespace

RateSignal rate_signal_of(const LookupResult& lookup) {
    return {lookup.rate_limited, lookup.not_before, !lookup.ok && !lookup.rate_limited};
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
    if (!window.keeps(call, permit.limits) && may_begin() && !is_noted) return permit;
    if (call == Call::write && window.waiting && window.next(call, permit.limits) > now) {
        // Many deliveries may be queued at the same time: a shared lock is enough to see that the row says
        // so, and that close_empty_queue() cannot change it before they are committed.
        TRY(window, rows.share_lock(permit.window));
        if (window.waiting) return tl::unexpected(NotYet{window.next(call, permit.limits)});
    }
    TRY(window, rows.lock(permit.window));
    Instant next = window.next(call, permit.limits);
    if (call == Call::read) next = std::min(next, std::max(window.closed_until, now + ask_again));
    bool may_go = may_begin();
    if (may_go && call == Call::write && !queued_since && window.waiting) {
        TRY(const auto heads, rows.queue_heads(permit.window, 1));
        may_go = heads.empty();
    }
    if (may_go) {
        const bool keeps = window.keeps(call, permit.limits);
        if (!keeps && !is_noted) return permit;
        if (keeps) window.begin(permit.until.emplace(until));
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
        window.closed_until = std::max(window.closed_until, now + pause(signal, window.refusals, random01));
    } else if (!signal.silent) {
        window.record_success(permit.begun);
    }
    if (is_queued_now) begin_queue(window, now);
    TRY_VOID(rows.update(permit.window, window, window.next(Call::write, permit.limits)));
    return signal.refused ? std::optional(window.closed_until) : std::nullopt;
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
