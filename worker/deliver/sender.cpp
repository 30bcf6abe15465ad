#include "worker/deliver/sender.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/mutant.h"
#include "sinks/processor.h"
#include "worker/deliver/complete_callback.h"
#include "worker/deliver/credentials.h"
#include "worker/deliver/freeze.h"
#include "worker/store/callback_rows.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/fence.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

/// It is no member of the line it stands in now: that knows better (RateWindow::neglected_until).
bool is_overdue(const DeliveryRow& row, Instant now) {
    const Instant due = row.next_attempt_at.value_or(row.created_at);
    return duty_of(row.progress) == Duty::send && row.progress.state != DeliveryState::unknown &&
           now - std::max(due, row.lease_until.value_or(due)) > overdue_after;
}

/// The cause, and which setting it is about.
std::string naming(const std::string& cause, const std::string& setting) {
    const bool says_it = setting.empty() || cause.find(setting) != std::string::npos;
    return says_it ? cause : cause + " (" + setting + ")";
}

bool is_due(const DeliveryRow& row, Instant now) {
    const bool is_leased = row.lease_until && *row.lease_until > now && !mutant(Mutant::lease_ignored);
    return !is_leased && (!row.next_attempt_at || *row.next_attempt_at <= now);
}

}  // namespace

/// What the claim found out.
enum class Sender::Leave {
    granted,    ///< its call may be made
    put_off,    ///< the row says what it waits for now, or why nothing is to be done
    untouched,  ///< nothing has changed
};

/// A claimed delivery on its way through the protocol.
struct Sender::Job {
    DeliveryRow row;
    Summary summary;
    Target target;
    Sink* sink = nullptr;
    bool overdue = false;                   ///< to be looked for before it is sent
    std::string obstacle;                   ///< why there is no sink to talk to
    std::string froze;                      ///< the source of a summary that this claim had to freeze
    std::chrono::nanoseconds lease_ends{};  ///< by the machine's own clock, read before the claim was sent
    Instant claimed_at;
    Instant free_since;     ///< nobody had worked at it from then on
    DeliveryState found{};  ///< the state before the claim
    Leave leave = Leave::untouched;
    Quota quota;
    Permit permit;
    std::vector<std::string> tries;  ///< refused credentials that this delivery tries for all others

    // What the platform said, once it has been asked.
    bool was_asked = false;
    RateWord rate;
    bool credential_works = false;
    bool credential_refused = false;

    Post post() const {
        const Instant since = std::min(row.created_at, row.next_attempt_at.value_or(row.created_at));
        return {row.id, row.conversation_id, target, row.body, row.intent_at.value_or(since)};
    }
};

bool Sender::lease_holds(const Job& job) const {
    // The request must be over before another may take the row: its whole deadline has to fit into the lease.
    return clock_.boottime() + rules_.http_timeout < job.lease_ends;
}

Result<void> Sender::claim(const std::string& delivery_id, Errand errand, Job& job) {
    job.lease_ends = clock_.boottime() + rules_.lease;
    const auto is_wanted = [errand](const DeliveryRow& row, Instant now) {
        switch (errand) {
            case Errand::post:
                return duty_of(row.progress) != Duty::nothing;
            case Errand::probe:
                return waits_for_credential(row.progress);
            case Errand::heal:
                return row.progress.state == DeliveryState::sent && row.dedup_due_at &&
                       *row.dedup_due_at <= now;
        }
        return false;
    };
    const auto work = [&](Transaction& transaction) -> Result<void> {
        job.leave = Leave::untouched;
        job.tries.clear();
        job.froze.clear();
        TRY(auto row, transaction.deliveries().lock(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!row || !is_wanted(*row, now) || !is_due(*row, now)) return {};
        if (errand != Errand::heal) {
            TRY(const bool must_wait, transaction.deliveries().has_older_open(*row));
            if (must_wait) return {};
        }
        job.overdue = errand == Errand::post && is_overdue(*row, now);
        job.row = std::move(*row);
        job.found = job.row.progress.state;
        job.claimed_at = now;
        job.free_since = job.row.lease_until.value_or(job.row.created_at);
        job.row.owner = rules_.owner;
        job.row.generation.value += 1;
        job.row.lease_until = now + rules_.lease;
        TRY(job.leave, errand == Errand::heal ? prepare_heal(transaction, job) : prepare(transaction, job));
        if (job.leave == Leave::untouched) return {};
        if (job.leave == Leave::put_off) job.row.lease_until = now;  // let go of it
        return transaction.deliveries().update(job.row);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.deliveries().lock(delivery_id));
        return row && row->generation == job.row.generation && row->owner == rules_.owner;
    };
    return store_.transact(work, is_done);
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

/// What the sink needs beside the row: the target, its turn, and the frozen summary while the body is not
/// rendered yet.
Result<Sender::Leave> Sender::prepare(Transaction& transaction, Job& job) {
    TRY(const auto callback, transaction.callbacks().lock(job.row.callback_id));
    if (!callback) return fatal("delivery " + job.row.id + " has no callback");
    if (callback->state.phase == Phase::cancelled && job.row.progress.attempt == 0) {
        job.row.progress.state = DeliveryState::failed;
        job.row.progress.cause = "cancelled before it was tried";
        job.row.next_attempt_at = job.claimed_at;
        return Leave::put_off;
    }
    address(*callback, job);
    if (!job.sink) {
        const int attempt = job.row.progress.attempt;
        job.row.progress = {DeliveryState::parked, attempt, 0, job.obstacle, "", "", std::nullopt};
        job.row.next_attempt_at = job.claimed_at;
        return Leave::put_off;
    }
    TRY(const Leave leave, ask_leave(transaction, job));
    if (leave != Leave::granted || !job.row.body.empty()) return leave;
    TRY(auto summary, transaction.summaries().find({job.row.conversation_id, job.row.turn_key}));
    if (!summary) return fatal("delivery " + job.row.id + " has no summary");
    if (summary->owed) {
        TRY(const bool froze, freeze_as_it_is(transaction, *summary));
        job.froze = froze ? summary->source : "";
        job.row.next_attempt_at = due_since(*summary, job.claimed_at);
        job.overdue = job.overdue || *job.row.next_attempt_at < job.claimed_at;
    }
    TRY(job.summary, summary_from_json(summary->body));
    return Leave::granted;
}

/// Whether its call may be made now: the credential is not refused, the window is open, and it is its turn.
Result<Sender::Leave> Sender::ask_leave(Transaction& transaction, Job& job) {
    DeliveryRow& row = job.row;
    const Instant now = job.claimed_at;
    job.quota = job.sink->quota(job.target);
    const std::string& own = job.quota.credential;
    const bool was_parked = job.found == DeliveryState::parked;
    const bool was_in_line = !was_parked && !row.next_attempt_at && row.rate_window == job.quota.window;
    if (own.empty()) return was_parked ? Leave::untouched : Leave::granted;
    // It may have been parked for a credential that is no longer the one configured.
    const std::string before = row.credential.empty() ? own : row.credential;
    std::map<std::string, CredentialRow> refused;
    for (const std::string& name : std::set{own, before}) {
        TRY(auto standing, standing_of(transaction, name));
        if (standing.parked_since) refused.emplace(name, std::move(standing));
    }
    const auto may_try = [&](const std::string& name) {
        return !refused.contains(name) || refused.at(name).probe_at.value_or(now) <= now;
    };
    if (was_parked && (!refused.contains(before) || !may_try(before))) return Leave::untouched;
    const bool looks = duty_of(row.progress) == Duty::look;
    if (refused.contains(own) && (looks || !may_try(own))) {
        row.credential = own;
        row.rate_window = job.quota.window;
        if (const auto parked = step(row.progress, CredentialRefused{refused.at(own).cause}))
            row.progress = *parked;
        else if (!was_parked)  // a look-up would be refused as well
            row.next_attempt_at =
                std::max(now, refused.at(own).probe_at.value_or(now)) + std::chrono::seconds{1};
        return Leave::put_off;
    }
    if (was_parked) row.progress = step(row.progress, CredentialTried{}).value_or(row.progress);
    const Call call = looks ? Call::read : Call::write;
    const auto in_line_since = was_in_line ? std::optional(job.free_since) : std::nullopt;
    TRY(auto permit, take_permit(transaction, job.quota, call, in_line_since, now, *row.lease_until));
    if (!permit && (was_parked || was_in_line) && call == Call::write) return Leave::untouched;
    row.credential = own;
    row.rate_window = job.quota.window;
    if (!permit) {
        row.next_attempt_at = call == Call::write ? std::nullopt : std::optional(permit.error().until);
        return Leave::put_off;
    }
    job.permit = std::move(*permit);
    if (was_in_line && call == Call::write) job.overdue = job.permit.neglected;
    if (!row.next_attempt_at) row.next_attempt_at = now;
    for (auto& [name, standing] : refused) {
        standing.probe_at = now + probe_every;
        TRY_VOID(transaction.credentials().update(name, standing));
        job.tries.push_back(name);
    }
    return Leave::granted;
}

/// What was posted stays posted: a row that nobody can look for any more is only not checked.
Result<Sender::Leave> Sender::prepare_heal(Transaction& transaction, Job& job) {
    TRY(const auto callback, transaction.callbacks().read(job.row.callback_id));
    if (callback)
        address(*callback, job);
    else
        job.obstacle = "it has no callback";
    if (!job.sink) {
        job.row.dedup_due_at.reset();
        return Leave::put_off;
    }
    job.quota = job.sink->quota(job.target);
    if (job.quota.credential.empty()) return Leave::granted;
    TRY(const auto standing, transaction.credentials().read(job.quota.credential));
    if (standing.parked_since) {
        job.row.dedup_due_at = job.claimed_at + probe_every;
        return Leave::put_off;
    }
    TRY(auto permit,
        take_permit(transaction, job.quota, Call::read, {}, job.claimed_at, *job.row.lease_until));
    if (!permit) {
        job.row.dedup_due_at = permit.error().until;
        return Leave::put_off;
    }
    job.permit = std::move(*permit);
    return Leave::granted;
}

Result<bool> Sender::deliver(const std::string& delivery_id) {
    return attempt(delivery_id, Errand::post);
}

Result<bool> Sender::probe(const std::string& delivery_id) {
    return attempt(delivery_id, Errand::probe);
}

Result<bool> Sender::attempt(const std::string& delivery_id, Errand errand) {
    Job job;
    TRY_VOID(claim(delivery_id, errand, job));
    if (job.leave == Leave::untouched) return false;
    if (!job.froze.empty()) observer_.froze(job.froze);
    if (job.row.progress.state != job.found) observer_.entered(job.row.sink, job.row.progress.state, 1);
    if (job.leave == Leave::put_off) return true;
    const auto worked = work(job);
    if (!worked && is_fenced(worked.error())) {
        observer_.fenced();
        TRY_VOID(leave_heal_due(job));
    } else if (!worked) {
        return Failure(worked.error());
    }
    return true;
}

Result<void> Sender::settle(const std::string& credential) {
    const std::string sink = credential.substr(0, credential.find(':'));
    return settle_credential(store_, credential, [&](DeliveryState state, std::int64_t rows) {
        observer_.entered(sink, state, rows);
    });
}

Result<void> Sender::work(Job& job) {
    if (!lease_holds(job)) return {};
    if (duty_of(job.row.progress) == Duty::look) return record(job, look(job));
    if (job.overdue) {
        TRY(const bool is_enough, look_first(job));
        if (is_enough) return {};
    }
    TRY(const DeliveryEvent event, send(job));
    return record(job, event);
}

DeliveryEvent Sender::look(Job& job) {
    const LookupResult sighting = job.sink->find(job.post());
    job.was_asked = true;
    job.rate = {sighting.rate_limited, sighting.not_before, !sighting.ok && !sighting.rate_limited};
    job.credential_works = sighting.ok;
    if (!sighting.ok && !mutant(Mutant::look_up_error_read_as_absent)) {
        observer_.looked(job.row.sink, sighting.forbidden ? "forbidden" : "failed");
        if (sighting.forbidden) return LookForbidden{sighting.cause};
        constexpr std::chrono::seconds pause{3};
        return LookFailed{sighting.cause,
                          sighting.not_before.value_or(pause) + full_jitter(3, clock_.random01(), pause)};
    }
    observer_.looked(job.row.sink, sighting.found.empty() ? "absent" : "found");
    if (sighting.found.empty()) return NotFound{};
    observer_.suppressed("lookup");
    remove_twins(job, sighting);
    return FoundOnPlatform{sighting.found[0].remote_id, sighting.found[0].remote_url};
}

/// An overdue post: nothing says that it was sent, but a look costs little. True when there is no more to do
/// for now.
Result<bool> Sender::look_first(Job& job) {
    if (job.sink->duplicate_check() == DuplicateCheck::never) return false;
    const DeliveryEvent event = look(job);
    job.was_asked = !std::holds_alternative<NotFound>(event) && !std::holds_alternative<LookForbidden>(event);
    if (!job.was_asked) return false;
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
    const bool is_no = attempt.answer == Answer::refused || attempt.answer == Answer::unauthorised;
    job.was_asked = true;
    job.rate = {attempt.rate_limited, attempt.not_before,
                attempt.answer != Answer::sent && !is_no && !attempt.rate_limited};
    job.credential_refused = attempt.answer == Answer::unauthorised && !attempt.scope_is_target;
    job.credential_works = attempt.answer == Answer::sent || (is_no && !job.credential_refused);
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
            return DeliveryEvent{AnsweredUnauthorised{naming(attempt.cause, job.quota.setting)}};
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
        TRY(const auto stored, transaction.deliveries().lock(job.row.id));
        TRY(const Instant now, transaction.now());
        const bool is_ours = stored && (stored->generation == job.row.generation ||
                                        mutant(Mutant::result_recorded_without_fence));
        if (!is_ours) return fenced("delivery " + job.row.id);
        const auto progress = step(job.row.progress, event);
        if (!progress)
            return fatal("delivery " + job.row.id + ": this cannot happen in " +
                         std::string(name_of(job.row.progress.state)));
        next.progress = *progress;
        next.dedup_due_at = stored->dedup_due_at;  // a sender that lost the row may have left it behind
        next.generation.value += 1;
        at = now;
        const auto wait = progress->wait.value_or(std::chrono::milliseconds{0});
        if (next.progress.state == DeliveryState::sending && !next.intent_at) next.intent_at = now;
        if (!std::holds_alternative<IntentMade>(event)) next.lease_until = now;  // let go of it
        next.next_attempt_at = now + wait;
        if (next.progress.state == DeliveryState::sent) next.sent_at = now;
        if (needs_heal(job, event, next)) next.dedup_due_at = now + rules_.heal_after;
        if (next.progress.state == DeliveryState::failed) next.dedup_due_at.reset();
        TRY_VOID(pace(transaction, job, next, now));
        TRY_VOID(transaction.deliveries().update(next));
        return finish_callback(transaction, next);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.deliveries().lock(job.row.id));
        if (!stored || stored->generation > next.generation) return fenced("delivery " + job.row.id);
        return stored->generation == next.generation;
    };
    TRY_VOID(store_.transact(work, is_done));
    const bool entered = next.progress.state != job.row.progress.state;
    job.row = std::move(next);
    if (entered) observer_.entered(job.row.sink, job.row.progress.state, 1);
    if (entered && job.row.progress.state == DeliveryState::sent)
        observer_.visible(job.row.sink, *at - job.row.created_at);
    return {};
}

/// What the answer means for everybody who shares the credential or the window.
Result<void> Sender::pace(Transaction& transaction, const Job& job, DeliveryRow& next, Instant now) const {
    if (!job.was_asked || job.quota.credential.empty()) return {};
    if (job.credential_refused)
        TRY_VOID(credential_refused(transaction, job.quota.credential, next.progress.cause, now));
    for (const std::string& name : job.tries)
        if (job.credential_works) TRY_VOID(credential_works(transaction, name));
    const bool gets_in_line = job.rate.refused && job.permit.call == Call::write;
    TRY(const auto closed_until,
        return_permit(transaction, job.permit, job.rate, gets_in_line, now, clock_.random01()));
    if (gets_in_line)
        next.next_attempt_at.reset();
    else if (closed_until)
        next.next_attempt_at = *closed_until;
    return {};
}

bool Sender::may_heal(const Job& job) const {
    return rules_.heal_after.count() > 0 && job.sink->duplicate_check() != DuplicateCheck::never &&
           !mutant(Mutant::heal_switched_off);
}

/// Whether `event`, which made the row `next`, leads to a check for twins. A row that is not SENT yet keeps
/// the due time as the note that it was once unknown whether it had been posted; nobody looks at it before it
/// is SENT.
bool Sender::needs_heal(const Job& job, const DeliveryEvent& event, const DeliveryRow& next) const {
    if (!may_heal(job)) return false;
    const bool is_sent = next.progress.state == DeliveryState::sent;
    if (job.sink->duplicate_check() == DuplicateCheck::always) return is_sent;
    return next.progress.state == DeliveryState::unknown || std::holds_alternative<FoundOnPlatform>(event) ||
           (is_sent && next.dedup_due_at);
}

/// Our record was refused, so somebody else may have posted as well: the row is checked for twins. Not at
/// once: look-ups lag behind writes, and one that sees a single post ends the check.
Result<void> Sender::leave_heal_due(const Job& job) {
    if (!may_heal(job)) return {};
    log_warn("a sender lost its lease on the way; the delivery will be checked for twins",
             {{"delivery", job.row.id}});
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.deliveries().lock(job.row.id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->progress.state == DeliveryState::failed) return {};
        stored->dedup_due_at = now + rules_.heal_after;
        return transaction.deliveries().update(*stored);
    };
    return store_.transact_idempotent(work);
}

/// Keeps the oldest; true when no twin is left.
bool Sender::remove_twins(const Job& job, const LookupResult& sighting) {
    bool all = true;
    for (std::size_t i = 1; i < sighting.found.size(); ++i) {
        const bool removed = job.sink->remove(job.post(), sighting.found[i]);
        if (removed) observer_.healed(job.row.sink);
        all = all && removed;
    }
    return all;
}

Result<bool> Sender::heal(const std::string& delivery_id) {
    Job job;
    TRY_VOID(claim(delivery_id, Errand::heal, job));
    if (job.leave == Leave::put_off && !job.sink)
        log_warn("a post cannot be checked for twins", {{"delivery", delivery_id}, {"why", job.obstacle}});
    if (job.leave != Leave::granted) return false;
    const LookupResult sighting = job.sink->find(job.post());
    job.rate = {sighting.rate_limited, sighting.not_before, !sighting.ok && !sighting.rate_limited};
    observer_.looked(job.row.sink, !sighting.ok ? "failed" : sighting.found.empty() ? "absent" : "found");
    const bool over = sighting.ok ? remove_twins(job, sighting) : sighting.forbidden;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto stored, transaction.deliveries().lock(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!stored || stored->generation != job.row.generation) return {};
        TRY(const auto closed_until,
            return_permit(transaction, job.permit, job.rate, false, now, clock_.random01()));
        stored->generation.value += 1;
        stored->lease_until = now;
        stored->dedup_due_at =
            over ? std::nullopt
                 : std::optional(std::max(now + rules_.heal_after, closed_until.value_or(now)));
        return transaction.deliveries().update(*stored);
    };
    TRY_VOID(store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.deliveries().lock(delivery_id));
        return !stored || stored->generation > job.row.generation;
    }));
    return true;
}

}  // namespace epilogue
