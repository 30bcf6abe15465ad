#include "worker/deliver/claim.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "base/under_way.h"
#include "worker/deliver/admission.h"
#include "worker/deliver/breakers.h"
#include "worker/deliver/credentials.h"
#include "worker/store/freeze.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

bool is_wanted(const DeliveryRow& row, Purpose purpose, Instant now) {
    switch (purpose) {
        case Purpose::post:
            return next_action(row.progress) != NextAction::nothing;
        case Purpose::probe:
            return waits_for_credential(row.progress);
        case Purpose::dedup:
            return row.progress.state == DeliveryState::sent && row.dedup_due_at && *row.dedup_due_at <= now;
    }
    return false;
}

bool is_due(const DeliveryRow& row, Instant now) {
    const bool is_leased = row.lease_until && *row.lease_until > now && !mutant(Mutant::lease_ignored);
    return !is_leased && (!row.next_attempt_at || *row.next_attempt_at <= now);
}

/// Whether no sender took the row for long after it was due. A row that waits in the queue of its rate window
/// is overdue by another measure (RateWindow::unattended_until).
bool is_overdue(const DeliveryRow& row, Instant now) {
    const Instant due = row.next_attempt_at.value_or(row.created_at);
    return next_action(row.progress) == NextAction::send && row.progress.state != DeliveryState::unknown &&
           now - std::max(due, row.lease_until.value_or(due)) > overdue_after;
}

/// Leases the row for this sender; only written when the claim is not `untouched`.
void lease(DeliveryRow row, Instant now, const SenderRules& rules, ClaimedDelivery& claimed) {
    claimed.row = std::move(row);
    claimed.found = claimed.row.progress.state;
    claimed.claimed_at = now;
    claimed.free_since = claimed.row.lease_until.value_or(claimed.row.created_at);
    claimed.row.owner = rules.owner;
    claimed.row.generation.value += 1;
    claimed.row.lease_until = now + rules.lease;
}

/// The summary to render. One that is still owed is frozen without the agent's words: the post is due.
Result<void> load_summary(Transaction& transaction, ClaimedDelivery& claimed) {
    const DeliveryRow& row = claimed.row;
    TRY(auto summary, transaction.summaries().find({row.conversation_id, row.turn_key}));
    if (!summary) return fatal("delivery " + row.id + " has no summary");
    if (summary->owed) {
        TRY(const bool froze, freeze_without_agent(transaction, *summary));
        claimed.froze = froze ? summary->source : "";
        claimed.row.next_attempt_at = due_since(*summary, claimed.claimed_at);
        claimed.overdue = claimed.overdue || *claimed.row.next_attempt_at < claimed.claimed_at;
    }
    TRY(claimed.summary, summary_from_json(summary->body));
    return {};
}

}  // namespace

Post ClaimedDelivery::post() const {
    const Instant since = std::min(row.created_at, row.next_attempt_at.value_or(row.created_at));
    return {row.id, row.conversation_id, target, row.body, row.intent_at.value_or(since), newer};
}

Result<void> DeliveryClaimer::claim(const DeliveryId& delivery_id, Purpose purpose,
                                    ClaimedDelivery& claimed) const {
    claimed.lease_ends = clock_.boottime() + rules_.lease;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        claimed.admission = Admission::untouched;
        claimed.tries.clear();
        claimed.froze.clear();
        TRY(auto row, transaction.deliveries().lock(delivery_id));
        TRY(const Instant now, transaction.now());
        if (!row || !is_wanted(*row, purpose, now) || !is_due(*row, now)) return {};
        if (purpose != Purpose::dedup) {
            TRY(const bool must_wait, transaction.deliveries().has_older_open(*row));
            if (must_wait) return {};
        }
        claimed.overdue = purpose == Purpose::post && is_overdue(*row, now);
        lease(std::move(*row), now, rules_, claimed);
        TRY(claimed.admission,
            purpose == Purpose::dedup ? admit_dedup(transaction, claimed) : admit_post(transaction, claimed));
        if (claimed.admission == Admission::untouched) return {};
        if (claimed.admission == Admission::put_off) claimed.row.lease_until = now;  // the lease is over
        return transaction.deliveries().update(claimed.row);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.deliveries().lock(delivery_id));
        return row && row->generation == claimed.row.generation && row->owner == rules_.owner;
    };
    return store_.transact(work, is_done);
}

/// The sink and the target, or the obstacle.
void DeliveryClaimer::find_sink(const CallbackRow& callback, ClaimedDelivery& claimed) const {
    const auto processor = decode_processor(callback.processor_type, callback.processor_json);
    claimed.obstacle.clear();
    claimed.sink = processor ? sinks_.find(claimed.row.sink) : nullptr;
    if (processor) claimed.target = processor->target;
    if (!claimed.sink)
        claimed.obstacle =
            processor ? "no sink \"" + claimed.row.sink + "\" in this version" : processor.error().text;
}

/// Learns which posts of the callback are newer, when all are written into one message. While a sender is at
/// another of them this one waits: two that were written at the same time would know nothing of each other.
/// The callback is locked, so that no other is claimed meanwhile.
Result<bool> DeliveryClaimer::must_wait_for_sibling(Transaction& transaction,
                                                    ClaimedDelivery& claimed) const {
    claimed.newer.clear();
    if (!claimed.sink->writes_into_one(claimed.target)) return false;
    TRY(const auto siblings, transaction.deliveries().siblings(claimed.row));
    for (const SiblingDelivery& sibling : siblings) {
        if (sibling.held_until && *sibling.held_until > claimed.claimed_at) {
            claimed.row.next_attempt_at = sibling.held_until;
            return true;
        }
        if (sibling.is_newer) claimed.newer.push_back(sibling.id);
    }
    return false;
}

/// A post or a probe: needs its callback, its sink, its turn, and the frozen summary while the body is not
/// rendered yet.
Result<Admission> DeliveryClaimer::admit_post(Transaction& transaction, ClaimedDelivery& claimed) const {
    DeliveryRow& row = claimed.row;
    TRY(const auto callback, transaction.callbacks().lock(row.callback_id));
    if (!callback) return fatal("delivery " + row.id + " has no callback");
    if (callback->state.phase == Phase::cancelled && row.progress.attempt == 0) {
        row.progress.state = DeliveryState::failed;
        row.progress.cause = "cancelled before it was tried";
        row.next_attempt_at = claimed.claimed_at;
        return Admission::put_off;
    }
    find_sink(*callback, claimed);
    if (row.crashes >= most_crashes) {
        claimed.obstacle = cause_crashes;
        row.crashes = 0;  // an operator who lets it be tried again gives it as many chances again
    }
    if (!claimed.obstacle.empty()) {
        const int attempt = row.progress.attempt;
        row.progress = {};
        row.progress.state = DeliveryState::parked;
        row.progress.attempt = attempt;
        row.progress.cause = claimed.obstacle;
        row.next_attempt_at = claimed.claimed_at;
        return Admission::put_off;
    }
    TRY(const bool must_wait, must_wait_for_sibling(transaction, claimed));
    if (must_wait) return Admission::put_off;
    TRY(const Admission admission, admit(transaction, claimed, clock_));
    if (admission != Admission::granted || !row.body.empty()) return admission;
    TRY_VOID(load_summary(transaction, claimed));
    return Admission::granted;
}

/// A check for duplicates. What was posted stays posted: when it cannot be looked for, it is only not
/// checked.
Result<Admission> DeliveryClaimer::admit_dedup(Transaction& transaction, ClaimedDelivery& claimed) const {
    TRY(const auto callback, transaction.callbacks().read(claimed.row.callback_id));
    if (callback)
        find_sink(*callback, claimed);
    else
        claimed.obstacle = "it has no callback";
    if (claimed.row.crashes >= most_crashes) {
        claimed.obstacle = cause_crashes;
        claimed.sink = nullptr;
        claimed.row.crashes = 0;
    }
    if (!claimed.sink) {
        claimed.row.dedup_due_at.reset();
        return Admission::put_off;
    }
    claimed.quota = claimed.sink->quota(claimed.target);
    if (claimed.quota.credential.empty()) return Admission::granted;
    TRY(claimed.credential, credential_state(transaction, claimed.quota.credential));
    const Passage passage = passage_of(claimed.credential, Call::read, claimed.claimed_at, true);
    if (claimed.credential.parked_since || passage == Passage::wait) {
        claimed.row.dedup_due_at =
            claimed.claimed_at + (claimed.credential.parked_since ? probe_every : rules_.dedup_after);
        return Admission::put_off;
    }
    TRY(auto permit, acquire_permit(transaction, claimed.quota, Call::read, {}, claimed.claimed_at,
                                    *claimed.row.lease_until));
    if (!permit) {
        claimed.row.dedup_due_at = drawn(permit.error(), clock_);
        return Admission::put_off;
    }
    claimed.permit = std::move(*permit);
    if (passage == Passage::probe) {
        claimed.credential.look_ups.begin_probe(claimed.claimed_at);
        TRY_VOID(transaction.credentials().update(claimed.quota.credential, claimed.credential));
    }
    return Admission::granted;
}

}  // namespace epilogue
