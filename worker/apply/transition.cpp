#include "worker/apply/transition.h"

#include <algorithm>

#include "base/mutant.h"
#include "worker/apply/reconcile_request.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds outage_after{60};
constexpr std::int64_t storm_at_least = 20;  // and 10 % of the open turns
constexpr int storm_window = 20;             // a twentieth of the timeout before and after

}  // namespace

Transition::Transition(Transaction& transaction, const Planner& planner, const BatchRules& rules,
                       PartitionRow locked, Instant database_now)
    : partition(std::move(locked)),
      transaction_(transaction),
      planner_(planner),
      rules_(rules),
      database_now_(database_now) {
    const bool was_away = partition.touched_at && database_now - *partition.touched_at > outage_after;
    if (was_away) partition.returned_at = database_now;
    partition.touched_at = database_now;
}

Result<void> Transition::load(const std::vector<ConversationId>& ids, int partition_id) {
    if (ids.empty()) return {};
    TRY(conversations_, transaction_.conversations().lock(ids, partition_id));
    TRY(callbacks_, transaction_.callbacks().lock_active(ids));
    for (CallbackRow& callback : callbacks_) callbacks_of_[callback.conversation_id].push_back(&callback);
    return {};
}

Instant Transition::advance_clock(Instant to) {
    Instant clock = std::min(to, database_now_);
    if (partition.clock) clock = std::max(clock, *partition.clock);
    partition.clock = clock;
    return clock;
}

FoldRules Transition::rules_for(const ConversationId& conversation_id) {
    FoldRules rules;
    rules.settle = rules_.settle;
    rules.hook_wait = rules_.hook_wait;
    rules.keep_digest = false;
    rules.inactivity.after = rules_.inactivity;
    rules.inactivity.returned_at = partition.returned_at;
    rules.inactivity.gap_at = partition.gap_at;
    for (const CallbackRow* callback : callbacks_of(conversation_id)) {
        const Phase phase = callback->state.phase;
        if (phase != Phase::watching && phase != Phase::dormant) continue;
        rules.keep_digest = true;
        if (phase == Phase::dormant) continue;
        auto& since = rules.inactivity.watched_since;
        since = since ? std::max(*since, callback->adopted_at) : callback->adopted_at;
    }
    return rules;
}

Result<Applied> Transition::apply(const Event& event, const ConversationId& conversation_id, Instant at,
                                  const Source& source) {
    if (is_for_watchers(event) && callbacks_of(conversation_id).empty()) return Applied::applied;
    const auto found =
        std::lower_bound(conversations_.begin(), conversations_.end(), conversation_id,
                         [](const StoredConversation& c, const ConversationId& id) { return c.id < id; });
    FoldRules rules = rules_for(conversation_id);
    if (would_time_out(found->conversation, at, rules.inactivity)) {
        // A suspended turn is resumed by an event of its own, whether or not the mass timeout is over.
        TRY(const bool mass_timeout, is_mass_timeout(at));
        rules.inactivity.may_fire = !mass_timeout && !found->suspended;
        if (rules.inactivity.may_fire) {
            // Before an inactivity counts its server is asked, also when the event that ends it comes first.
            TRY(const bool asks, ask_agent_server(*found));
            rules.inactivity.may_fire = !asks;
        }
    }
    Folded folded = fold(std::move(found->conversation), event, at, rules);
    const Applied applied = folded.applied;
    if (applied == Applied::applied) folded.conversation.heard_at = database_now_;
    if (found->suspended) found->resumed_at = database_now_;
    found->suspended = false;
    keep(*found, std::move(folded), source);
    return applied;
}

Result<void> Transition::tick_all(Instant now, const Source& source) {
    for (StoredConversation& stored : conversations_) {
        FoldRules rules = rules_for(stored.id);
        stored.suspended = false;
        if (would_time_out(stored.conversation, now, rules.inactivity)) {
            TRY(const bool mass_timeout, is_mass_timeout(now));
            rules.inactivity.may_fire = !mass_timeout;
            stored.suspended = mass_timeout;
            report.suspended += mass_timeout ? 1 : 0;
            TRY(const bool asks, ask_agent_server(stored));
            if (asks) continue;
        }
        keep(stored, tick(std::move(stored.conversation), now, rules), source);
    }
    return {};
}

Result<bool> Transition::ask_agent_server(StoredConversation& stored) {
    if (!std::holds_alternative<Open>(stored.conversation.turn_state)) return false;
    auto& open = std::get<Open>(stored.conversation.turn_state);
    if (stored.suspended)
        open.asked = false;  // what it says now means nothing by the time that the turn is resumed
    if (stored.suspended || open.asked) return false;
    TRY(open.asked, queue_reconcile(transaction_, stored.id, ReconcileReason::inactivity, database_now_,
                                    rules_.default_agent_server));
    if (open.asked) open.due = database_now_ + rules_.agent_answers_in;
    return open.asked;
}

void Transition::keep(StoredConversation& stored, Folded folded, const Source& source) {
    stored.conversation = std::move(folded.conversation);
    take(stored.id, folded.ended, source);
    for (const Notice& notice : folded.notices)
        planner_.add(stored.id, notice, source, callbacks_of(stored.id), plan_);
}

void Transition::take(const ConversationId& conversation_id, const std::vector<TurnEnd>& ended,
                      const Source& source) {
    for (const TurnEnd& turn : ended) {
        report.counted.push_back(turn.verdict);
        planner_.add(conversation_id, turn, source, callbacks_of(conversation_id), plan_);
        if (mutant(Mutant::generation_inside_delivery_id))
            for (DeliveryRow& row : plan_.deliveries)
                row.id =
                    planner_.delivery_id(row.callback_id, row.conversation_id,
                                         TurnKey(row.turn_key + std::to_string(partition.generation.value)));
    }
}

Result<void> Transition::write() {
    TRY_VOID(transaction_.conversations().update(conversations_));
    TRY(const auto fresh, planner_.write(transaction_, plan_, callbacks_));
    for (const SummaryRow& summary : plan_.summaries) {
        if (summary.owed)
            report.owed.push_back({summary.conversation_id, summary.turn_key});
        else
            report.summaries.push_back(summary.source);
    }
    for (const DeliveryRow& delivery : plan_.deliveries) {
        const bool is_new = std::find(fresh.begin(), fresh.end(), delivery.id) != fresh.end();
        if (is_new)
            report.planned.push_back({delivery, plan_.waiting.contains(delivery.id)});
        else
            ++report.known;
    }
    return {};
}

std::optional<Instant> Transition::earliest_due() const {
    std::optional<Instant> earliest;
    for (const StoredConversation& stored : conversations_) {
        const auto due = due_at(stored.conversation);
        if (due && !stored.suspended && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
}

Result<bool> Transition::is_mass_timeout(Instant now) {
    if (!rules_.guard_mass_timeouts) return false;
    if (!mass_timeout_) {
        const auto window = std::chrono::duration_cast<Micros>(rules_.inactivity) / storm_window;
        TRY(const InactivityCensus census, transaction_.conversations().inactivity_census(
                                               now - window, now + window, database_now_ - window));
        mass_timeout_ = census.near > std::max(storm_at_least, census.open / 10);
    }
    return *mass_timeout_;
}

}  // namespace epilogue
