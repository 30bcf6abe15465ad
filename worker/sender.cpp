#include "worker/sender.h"

#include <ctime>
#include <random>
#include <utility>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/mutant.h"
#include "worker/fence.h"
#include "worker/finish.h"

namespace epilogue {
namespace {

std::chrono::nanoseconds boottime() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

double random01() {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
}

/// So long after its time a post that was not tried is overdue: due rows are taken at once, unless the pool
/// was away or the row comes from a database that was set back, and has forgotten what was posted since.
constexpr std::chrono::seconds overdue_after{60};

bool is_overdue(const DeliveryRow& row, Instant now) {
    const Instant due = row.next_attempt_at.value_or(row.created_at);
    return duty_of(row.progress) == Duty::send && row.progress.state != DeliveryState::unknown &&
           now - std::max(due, row.lease_until.value_or(due)) > overdue_after;
}

bool is_due(const DeliveryRow& row, Instant now) {
    const bool is_leased = row.lease_until && *row.lease_until > now && !mutant(Mutant::lease_ignored);
    return !is_leased && (!row.next_attempt_at || *row.next_attempt_at <= now);
}

}  // namespace

SenderClock system_sender_clock() {
    return {boottime, random01};
}

/// A claimed delivery on its way through the protocol.
struct Sender::Job {
    DeliveryRow row;
    Summary summary;
    Target target;
    Sink* sink = nullptr;
    bool overdue = false;                   ///< to be looked for before it is sent
    std::string obstacle;                   ///< why there is no sink to talk to
    std::chrono::nanoseconds lease_ends{};  ///< by the machine's own clock, read before the claim was sent

    Post post() const {
        const Instant since = std::min(row.created_at, row.next_attempt_at.value_or(row.created_at));
        return {row.id, row.conversation_id, target, row.body, row.intent_at.value_or(since)};
    }
};

bool Sender::lease_holds(const Job& job) const {
    // The request must be over before another may take the row: its whole deadline has to fit into the lease.
    return clock_.boottime() + rules_.http_timeout < job.lease_ends;
}

Result<bool> Sender::claim(const std::string& delivery_id, bool for_heal, Job& job) {
    bool claimed = false;
    job.lease_ends = clock_.boottime() + rules_.lease;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        claimed = false;
        TRY(auto row, transaction.lock_delivery(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!row) return {};
        const bool wanted = for_heal ? row->progress.state == DeliveryState::sent && row->heal_due_at &&
                                           *row->heal_due_at <= now
                                     : duty_of(row->progress) != Duty::nothing;
        if (!wanted || !is_due(*row, now)) return {};
        if (!for_heal) {
            TRY(const bool must_wait, transaction.has_older_open_delivery(*row));
            if (must_wait) return {};
        }
        job.overdue = !for_heal && is_overdue(*row, now);
        row->owner = rules_.owner;
        row->generation.value += 1;
        row->lease_until = now + rules_.lease;
        job.row = std::move(*row);
        TRY_VOID(for_heal ? prepare_heal(transaction, job) : prepare(transaction, job));
        if (!job.sink) job.row.lease_until = now;  // nothing to do: let go of it
        TRY_VOID(transaction.put_delivery(job.row));
        claimed = true;
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.lock_delivery(delivery_id));
        return row && row->generation == job.row.generation && row->owner == rules_.owner;
    };
    TRY_VOID(store_.transact(work, is_done));
    return claimed;
}

/// The sink and the target, or the obstacle.
void Sender::address(const CallbackRow& callback, Job& job) const {
    const auto processor = decode_processor(callback.processor_type, callback.processor_json);
    const auto sink = sinks_.find(job.row.sink);
    job.sink = processor && sink != sinks_.end() ? sink->second.get() : nullptr;
    if (processor) job.target = processor->target;
    if (!job.sink)
        job.obstacle =
            processor ? "no sink \"" + job.row.sink + "\" in this version" : processor.error().text;
}

/// What the sink needs beside the row: the target, and the frozen summary while the body is not rendered yet.
Result<void> Sender::prepare(Transaction& transaction, Job& job) {
    TRY(const auto callback, transaction.lock_callback(job.row.callback_id));
    if (!callback) return fatal("delivery " + job.row.id + " has no callback");
    if (callback->state.phase == Phase::cancelled && job.row.progress.attempt == 0) {
        job.row.progress.state = DeliveryState::failed;
        job.row.progress.cause = "cancelled before it was tried";
        return {};
    }
    address(*callback, job);
    if (!job.sink) {
        const int attempt = job.row.progress.attempt;
        job.row.progress = {DeliveryState::parked, attempt, 0, job.obstacle, "", "", std::nullopt};
        return {};
    }
    if (!job.row.body.empty()) return {};
    TRY(const auto summary, transaction.summary_of(job.row.conversation_id, job.row.turn_key));
    if (!summary) return fatal("delivery " + job.row.id + " has no summary");
    TRY(job.summary, summary_from_json(summary->body));
    return {};
}

/// What was posted stays posted: a row that nobody can look for any more is only not checked.
Result<void> Sender::prepare_heal(Transaction& transaction, Job& job) {
    TRY(const auto callback, transaction.peek_callback(job.row.callback_id));
    if (callback)
        address(*callback, job);
    else
        job.obstacle = "it has no callback";
    if (!job.sink) job.row.heal_due_at.reset();
    return {};
}

Result<bool> Sender::deliver(const std::string& delivery_id) {
    Job job;
    TRY(const bool claimed, claim(delivery_id, false, job));
    if (!claimed) return false;
    if (!job.sink) {
        observer_.entered(job.row.sink, job.row.progress.state);
        return true;
    }
    const auto worked = work(job);
    if (!worked && is_fenced(worked.error())) {
        observer_.fenced();
        TRY_VOID(leave_heal_due(job));
    } else if (!worked) {
        return Failure(worked.error());
    }
    return true;
}

Result<void> Sender::work(Job& job) {
    while (true) {
        const Duty duty = duty_of(job.row.progress);
        if (duty == Duty::nothing || !lease_holds(job)) return {};
        if (std::exchange(job.overdue, false)) {
            TRY(const bool is_enough, look_first(job));
            if (is_enough) return {};
            continue;
        }
        TRY(const DeliveryEvent event, duty == Duty::look ? look(job) : send(job));
        TRY_VOID(record(job, event));
        if (job.row.progress.wait.value_or(std::chrono::milliseconds{0}).count() > 0) return {};
    }
}

Result<DeliveryEvent> Sender::look(Job& job) {
    const Sighting sighting = job.sink->find(job.post());
    if (!sighting.looked && !mutant(Mutant::look_up_error_read_as_absent)) {
        observer_.looked(job.row.sink, sighting.forbidden ? "forbidden" : "failed");
        if (sighting.forbidden) return DeliveryEvent{LookForbidden{sighting.cause}};
        constexpr std::chrono::seconds pause{3};
        return DeliveryEvent{LookFailed{
            sighting.cause, sighting.not_before.value_or(pause) + full_jitter(3, clock_.random01(), pause)}};
    }
    observer_.looked(job.row.sink, sighting.seen.empty() ? "absent" : "found");
    if (sighting.seen.empty()) return DeliveryEvent{NotFound{}};
    observer_.suppressed("lookup");
    remove_twins(job, sighting);
    return DeliveryEvent{FoundOnPlatform{sighting.seen[0].remote_id, sighting.seen[0].remote_url}};
}

/// An overdue post: nothing says that it was sent, but a look costs little. True when there is no more to do
/// for now.
Result<bool> Sender::look_first(Job& job) {
    if (job.sink->twin_check() == TwinCheck::never) return false;
    TRY(const DeliveryEvent event, look(job));
    if (std::holds_alternative<NotFound>(event) || std::holds_alternative<LookForbidden>(event)) return false;
    TRY_VOID(record(job, event));
    return true;
}

Result<DeliveryEvent> Sender::send(Job& job) {
    if (job.row.body.empty()) job.row.body = job.sink->render(job.summary, job.row.id);
    TRY_VOID(record(job, IntentMade{}));
    if (!lease_holds(job))
        return fatal("delivery " + job.row.id + ": its lease is too short for another request", fenced_code);
    const Attempt attempt = job.sink->create(job.post());
    observer_.answered(job.row.sink, attempt.answer);
    switch (attempt.answer) {
        case Answer::sent:
            return DeliveryEvent{AnsweredSent{attempt.receipt.remote_id, attempt.receipt.remote_url}};
        case Answer::retry: {
            const std::chrono::milliseconds backoff =
                full_jitter(job.row.progress.attempt, clock_.random01());
            return DeliveryEvent{AnsweredRetry{
                attempt.cause, attempt.not_before ? *attempt.not_before + backoff / 10 : backoff}};
        }
        case Answer::refused:
            return DeliveryEvent{AnsweredRefused{attempt.cause}};
        case Answer::unauthorised:
            return DeliveryEvent{AnsweredUnauthorised{attempt.cause}};
        case Answer::unknown:
            return DeliveryEvent{AnswerLost{attempt.cause}};
    }
    return fatal("unreachable answer");
}

Result<void> Sender::record(Job& job, const DeliveryEvent& event) {
    DeliveryRow next = job.row;
    std::optional<Instant> at;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        next = job.row;
        TRY(const auto stored, transaction.lock_delivery(job.row.id));
        TRY(const Instant now, transaction.now());
        const bool is_ours = stored && (stored->generation == job.row.generation ||
                                        mutant(Mutant::result_recorded_without_fence));
        if (!is_ours) return fenced("delivery " + job.row.id);
        const auto progress = step(job.row.progress, event);
        if (!progress)
            return fatal("delivery " + job.row.id + ": this cannot happen in " +
                         std::string(name_of(job.row.progress.state)));
        next.progress = *progress;
        next.heal_due_at = stored->heal_due_at;  // a sender that lost the row may have left it behind
        next.generation.value += 1;
        at = now;
        const auto wait = progress->wait.value_or(std::chrono::milliseconds{0});
        if (next.progress.state == DeliveryState::sending && !next.intent_at) next.intent_at = now;
        if (duty_of(next.progress) == Duty::nothing || wait.count() > 0)
            next.lease_until = now;  // let go of it
        next.next_attempt_at = now + wait;
        if (next.progress.state == DeliveryState::sent) next.sent_at = now;
        if (needs_heal(job, event, next)) next.heal_due_at = now + rules_.heal_after;
        if (next.progress.state == DeliveryState::failed) next.heal_due_at.reset();
        TRY_VOID(transaction.put_delivery(next));
        return finish_callback(transaction, next);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.lock_delivery(job.row.id));
        if (!stored || stored->generation > next.generation) return fenced("delivery " + job.row.id);
        return stored->generation == next.generation;
    };
    TRY_VOID(store_.transact(work, is_done));
    const bool entered = next.progress.state != job.row.progress.state;
    job.row = std::move(next);
    if (entered) observer_.entered(job.row.sink, job.row.progress.state);
    if (entered && job.row.progress.state == DeliveryState::sent)
        observer_.visible(job.row.sink, *at - job.row.created_at);
    return {};
}

bool Sender::may_heal(const Job& job) const {
    return rules_.heal_after.count() > 0 && job.sink->twin_check() != TwinCheck::never &&
           !mutant(Mutant::heal_switched_off);
}

/// Whether `event`, which made the row `next`, leads to a check for twins. A row that is not SENT yet keeps
/// the due time as the note that it was once unknown whether it had been posted; nobody looks at it before it
/// is SENT.
bool Sender::needs_heal(const Job& job, const DeliveryEvent& event, const DeliveryRow& next) const {
    if (!may_heal(job)) return false;
    const bool is_sent = next.progress.state == DeliveryState::sent;
    if (job.sink->twin_check() == TwinCheck::always) return is_sent;
    return next.progress.state == DeliveryState::unknown || std::holds_alternative<FoundOnPlatform>(event) ||
           (is_sent && next.heal_due_at);
}

/// Our record was refused, so somebody else may have posted as well: the row is checked for twins. Not at
/// once: look-ups lag behind writes, and one that sees a single post ends the check.
Result<void> Sender::leave_heal_due(const Job& job) {
    if (!may_heal(job)) return {};
    log_warn("a sender lost its lease on the way; the delivery will be checked for twins",
             {{"delivery", job.row.id}});
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.lock_delivery(job.row.id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->progress.state == DeliveryState::failed) return {};
        stored->heal_due_at = now + rules_.heal_after;
        return transaction.put_delivery(*stored);
    };
    return store_.transact(work, [](Transaction&) -> Result<bool> { return false; });
}

/// Keeps the oldest; true when no twin is left.
bool Sender::remove_twins(const Job& job, const Sighting& sighting) {
    bool all = true;
    for (std::size_t i = 1; i < sighting.seen.size(); ++i) {
        const bool removed = job.sink->remove(job.post(), sighting.seen[i]);
        if (removed) observer_.healed(job.row.sink);
        all = all && removed;
    }
    return all;
}

Result<bool> Sender::heal(const std::string& delivery_id) {
    Job job;
    TRY(const bool claimed, claim(delivery_id, true, job));
    if (!claimed) return false;
    if (!job.sink) {
        log_warn("a post cannot be checked for twins", {{"delivery", delivery_id}, {"why", job.obstacle}});
        return false;
    }
    const Sighting sighting = job.sink->find(job.post());
    observer_.looked(job.row.sink, !sighting.looked ? "failed" : sighting.seen.empty() ? "absent" : "found");
    const bool over = sighting.looked ? remove_twins(job, sighting) : sighting.forbidden;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.lock_delivery(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->generation != job.row.generation) return {};
        stored->generation.value += 1;
        stored->lease_until = now;
        stored->heal_due_at = over ? std::nullopt : std::optional(now + rules_.heal_after);
        return transaction.put_delivery(*stored);
    };
    TRY_VOID(store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.lock_delivery(delivery_id));
        return !stored || stored->generation > job.row.generation;
    }));
    return true;
}

}  // namespace epilogue
