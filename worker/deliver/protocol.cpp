#include "worker/deliver/protocol.h"

#include <utility>

#include "base/backoff.h"
#include "base/mutant.h"
#include "worker/deliver/breakers.h"
#include "worker/deliver/complete_callback.h"
#include "worker/deliver/credentials.h"
#include "worker/store/fence.h"

namespace epilogue {
namespace {

/// The cause, and which setting it is about.
std::string naming(const std::string& cause, const std::string& setting) {
    const bool says_it = setting.empty() || cause.find(setting) != std::string::npos;
    return says_it ? cause : cause + " (" + setting + ")";
}

/// What a look-up says about the window and the credential.
void note_look_up(const LookupResult& lookup, ClaimedDelivery& claimed) {
    claimed.was_asked = true;
    claimed.rate = rate_signal_of(lookup);
    claimed.credential_works = lookup.ok;
    claimed.asked = Call::read;
    claimed.platform = lookup.ok ? PlatformState::answered : lookup.platform;
}

/// What an answer to a post says about the window and the credential. A definite no shows, too, that the
/// credential works, unless it is about the credential itself.
void note_answer(const Attempt& attempt, ClaimedDelivery& claimed) {
    const bool is_no = attempt.answer == Answer::refused || attempt.answer == Answer::unauthorised;
    claimed.was_asked = true;
    claimed.rate = {attempt.rate_limited, attempt.not_before,
                    attempt.answer != Answer::sent && !is_no && !attempt.rate_limited, attempt.is_estimate};
    claimed.asked = Call::write;
    claimed.platform = attempt.answer == Answer::sent ? PlatformState::answered : attempt.platform;
    claimed.credential_refused = attempt.answer == Answer::unauthorised && !attempt.scope_is_target;
    claimed.credential_works = attempt.answer == Answer::sent || (is_no && !claimed.credential_refused);
}

}  // namespace

Result<void> PostingProtocol::run(ClaimedDelivery& claimed) const {
    if (!lease_holds(claimed)) return {};
    if (next_action(claimed.row.progress) == NextAction::look) return record(claimed, look(claimed));
    if (claimed.overdue) {
        TRY(const bool is_over, look_before_sending(claimed));
        if (is_over) return {};
    }
    TRY(const DeliveryEvent event, send(claimed));
    return record(claimed, event);
}

/// The request must be over before another sender may take the row: all of its deadline must fit the lease.
bool PostingProtocol::lease_holds(const ClaimedDelivery& claimed) const {
    return clock_.boottime() + rules_.http_timeout < claimed.lease_ends;
}

/// An overdue post: nothing says that it was sent, but a look costs little. True when there is no more to do
/// for now.
Result<bool> PostingProtocol::look_before_sending(ClaimedDelivery& claimed) const {
    if (claimed.sink->duplicate_check() == DuplicateCheck::never) return false;
    const DeliveryEvent event = look(claimed);
    claimed.was_asked =
        !std::holds_alternative<NotFound>(event) && !std::holds_alternative<LookForbidden>(event);
    if (!claimed.was_asked) return false;
    TRY_VOID(record(claimed, event));
    return true;
}

DeliveryEvent PostingProtocol::look(ClaimedDelivery& claimed) const {
    const auto begun = clock_.boottime();
    const LookupResult lookup =
        epilogue::run(claimed.sink->find(claimed.post()), transport_, rules_.http_timeout);
    observer_.called(claimed.row.sink, "look_up", clock_.boottime() - begun);
    note_look_up(lookup, claimed);
    if (!lookup.ok && !mutant(Mutant::look_up_error_read_as_absent)) {
        observer_.looked(claimed.row.sink, lookup.forbidden ? "forbidden" : "failed");
        if (lookup.forbidden) return LookForbidden{lookup.cause};
        constexpr std::chrono::seconds pause{3};
        constexpr std::chrono::minutes longest{5};
        const int failures = claimed.row.progress.look_failures + 1;
        return LookFailed{
            lookup.cause,
            lookup.not_before.value_or(pause) + full_jitter(failures, clock_.random01(), pause, longest),
            why_failed(lookup)};
    }
    observer_.looked(claimed.row.sink, lookup.found.empty() ? "absent" : "found");
    if (lookup.found.empty()) return NotFound{};
    observer_.suppressed("lookup");
    duplicates_.remove_all_but_oldest(claimed, lookup);
    return FoundOnPlatform{lookup.found[0].remote_id, lookup.found[0].remote_url};
}

Result<DeliveryEvent> PostingProtocol::send(ClaimedDelivery& claimed) const {
    DeliveryRow& row = claimed.row;
    if (row.body.empty()) row.body = claimed.sink->render(claimed.summary, row.id);
    TRY_VOID(record(claimed, IntentMade{}));
    if (!lease_holds(claimed))
        return failure(Remedy::fatal, Cause::fenced,
                       "delivery " + row.id + ": its lease is too short for another request");
    const auto begun = clock_.boottime();
    const Attempt attempt =
        epilogue::run(claimed.sink->create(claimed.post()), transport_, rules_.http_timeout);
    observer_.called(row.sink, "post", clock_.boottime() - begun);
    observer_.answered(row.sink, attempt.answer);
    note_answer(attempt, claimed);
    return event_of(attempt, claimed);
}

DeliveryEvent PostingProtocol::event_of(const Attempt& attempt, const ClaimedDelivery& claimed) const {
    switch (attempt.answer) {
        case Answer::sent:
            return AnsweredSent{attempt.receipt.remote_id, attempt.receipt.remote_url};
        case Answer::retry: {
            const std::chrono::milliseconds backoff =
                full_jitter(claimed.row.progress.attempt, clock_.random01());
            return AnsweredRetry{attempt.cause,
                                 attempt.not_before ? *attempt.not_before + backoff / 10 : backoff};
        }
        case Answer::refused:
            return AnsweredRefused{attempt.cause};
        case Answer::unauthorised:
            return AnsweredUnauthorised{naming(attempt.cause, claimed.quota.setting)};
        case Answer::unknown:
            break;
    }
    return AnswerLost{attempt.cause};
}

Result<void> PostingProtocol::record(ClaimedDelivery& claimed, const DeliveryEvent& event) const {
    DeliveryRow next = claimed.row;
    std::optional<Instant> at;
    BreakerChange change = BreakerChange::none;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(const auto stored, transaction.deliveries().lock(claimed.row.id));
        TRY(const Instant now, transaction.now());
        const bool is_ours = stored && (stored->generation == claimed.row.generation ||
                                        mutant(Mutant::result_recorded_without_fence));
        if (!is_ours) return fenced("delivery " + claimed.row.id);
        TRY(next, row_after(claimed, *stored, event, now));
        at = now;
        if (claimed.was_asked) {
            TRY(change, note_platform(transaction, claimed, now, clock_.random01()));
        }
        TRY_VOID(record_answer(transaction, claimed, next, now));
        const bool is_down = change == BreakerChange::opened || change == BreakerChange::stays_open;
        // It waits for the platform then and not for its own time: the breaker needs something to ask with.
        if (is_down && next.progress.state == DeliveryState::unknown && claimed.asked == Call::read)
            next.next_attempt_at = now;
        TRY_VOID(transaction.deliveries().update(next));
        return complete_callback(transaction, next);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.deliveries().lock(claimed.row.id));
        if (!stored || stored->generation > next.generation) return fenced("delivery " + claimed.row.id);
        return stored->generation == next.generation;
    };
    TRY_VOID(store_.transact(work, is_done));
    const bool entered = next.progress.state != claimed.row.progress.state;
    claimed.row = std::move(next);
    claimed.row.body_is_stored = !claimed.row.body.empty();
    tell(claimed, change);
    if (!entered) return {};
    observer_.entered(claimed.row.sink, claimed.row.progress.state, 1);
    observer_.changed(claimed.row);
    if (claimed.row.progress.state != DeliveryState::sent) return {};
    observer_.visible(claimed.row.sink, *at - claimed.row.created_at);
    if (claimed.row.event_at) observer_.visible_after_event(claimed.row.sink, *at - *claimed.row.event_at);
    return {};
}

/// The row once `event` has happened to it at `now`.
Result<DeliveryRow> PostingProtocol::row_after(const ClaimedDelivery& claimed, const DeliveryRow& stored,
                                               const DeliveryEvent& event, Instant now) const {
    DeliveryRow next = claimed.row;
    const auto progress = step(claimed.row.progress, event);
    if (!progress)
        return fatal("delivery " + claimed.row.id + ": this cannot happen in " +
                     std::string(name_of(claimed.row.progress.state)));
    next.progress = *progress;
    next.dedup_due_at = stored.dedup_due_at;  // a sender that lost the row may have left it behind
    next.generation.value += 1;
    const auto wait = progress->wait.value_or(std::chrono::milliseconds{0});
    if (next.progress.state == DeliveryState::sending && !next.intent_at) next.intent_at = now;
    if (!std::holds_alternative<IntentMade>(event)) {
        next.lease_until = now;  // the lease is over
        next.crashes = 0;
    }
    next.next_attempt_at = now + wait;
    if (next.progress.state == DeliveryState::sent) next.sent_at = now;
    if (duplicates_.needs_check(claimed, event, next)) next.dedup_due_at = now + rules_.dedup_after;
    if (next.progress.state == DeliveryState::failed) next.dedup_due_at.reset();
    return next;
}

/// What the answer means for all deliveries that share the credential or the rate window, and for the time of
/// this delivery's next try.
Result<void> PostingProtocol::record_answer(Transaction& transaction, const ClaimedDelivery& claimed,
                                            DeliveryRow& next, Instant now) const {
    if (!claimed.was_asked || claimed.quota.credential.empty()) return {};
    if (claimed.credential_refused)
        TRY_VOID(credential_refused(transaction, claimed.quota.credential, next.progress.cause, now));
    for (const std::string& name : claimed.tries)
        if (claimed.credential_works) TRY_VOID(credential_works(transaction, name));
    const bool is_queued_now = claimed.rate.refused && claimed.permit.call == Call::write;
    TRY(const auto closed_until,
        release_permit(transaction, claimed.permit, claimed.rate, is_queued_now, now, clock_.random01()));
    if (is_queued_now)
        next.next_attempt_at.reset();
    else if (closed_until)
        next.next_attempt_at = *closed_until;
    return {};
}

}  // namespace epilogue
