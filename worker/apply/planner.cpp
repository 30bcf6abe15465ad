#include "worker/apply/planner.h"

#include <algorithm>
#include <map>

#include "base/ids.h"
#include "sinks/processor.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

/// The callback wants only turns that came from its place, and this one did not, or does not say.
bool is_from_elsewhere(const std::string& origin, const Processor& processor) {
    return processor.only_from_here && origin != describe(processor);
}

}  // namespace

DeliveryId Planner::delivery_id(CallbackId callback_id, const ConversationId& conversation_id,
                                const TurnKey& turn_key) const {
    std::string name = std::to_string(callback_id.value);
    name += '\0';
    name += conversation_id;
    name += '\0';
    name += turn_key;
    return DeliveryId(uuid_v5(installation_id_, name));
}

DeliveryRow Planner::delivery_of(const CallbackRow& callback, const Processor& processor,
                                 const PlanDelivery& planned, const Source& source) const {
    DeliveryRow delivery;
    delivery.id = delivery_id(callback.id, callback.conversation_id, planned.turn_key);
    delivery.callback_id = callback.id;
    delivery.turn_key = planned.turn_key;
    delivery.conversation_id = callback.conversation_id;
    delivery.sink = processor.sink;
    delivery.target = describe(processor);
    delivery.verdict = planned.verdict;
    delivery.source_partition = source.partition;
    delivery.source_offset = source.offset;
    delivery.event_at = source.at;
    delivery.next_attempt_at = source.at;
    return delivery;
}

void Planner::add(const ConversationId& conversation_id, const Notice& notice, const Source& source,
                  const std::vector<CallbackRow*>& callbacks, Plan& plan) const {
    bool reported = false;
    for (const CallbackRow* callback : callbacks) {
        const auto processor = decode_processor(callback->processor_type, callback->processor_json);
        if (!processor) continue;  // the turn's end puts it in error
        const TurnHeldUp held{notice.key, notice.verdict, is_from_elsewhere(notice.origin, *processor)};
        const auto next = step(callback->state, callback->options, held);
        if (!next.plan) continue;
        plan.deliveries.push_back(delivery_of(*callback, *processor, *next.plan, source));
        reported = true;
    }
    if (!reported) return;
    const Summary summary = summarise(notice, conversation_id, rules_);
    plan.summaries.push_back({conversation_id, notice.key, "digest", to_json(summary)});
}

void Planner::add(const ConversationId& conversation_id, const TurnEnd& turn, const Source& source,
                  std::vector<CallbackRow*> callbacks, Plan& plan) const {
    bool reported = false;
    for (CallbackRow* callback : callbacks) {
        const auto processor = decode_processor(callback->processor_type, callback->processor_json);
        TurnCounted counted{turn.turn_key, turn.verdict,
                            turn.opened_on && *turn.opened_on > callback->adopted_at, turn.status_event};
        counted.is_from_elsewhere = processor && is_from_elsewhere(turn.origin, *processor);
        auto next = step(callback->state, callback->options, counted);
        if (!next.plan) continue;
        plan.changed_callbacks.push_back(callback->id);
        if (!processor) {
            callback->state =
                step(callback->state, callback->options, RowFound{processor.error().text}).state;
            continue;
        }
        callback->state = std::move(next.state);
        plan.deliveries.push_back(delivery_of(*callback, *processor, *next.plan, source));
        reported = true;
    }
    if (!reported) return;
    const MadeSummary made = summarise(turn, conversation_id, rules_);
    SummaryRow summary{conversation_id, turn.turn_key, made.source, to_json(made.summary)};
    summary.owed = made.may_ask;
    if (summary.owed) {
        summary.status_event = turn.status_event;
        summary.ended_at = source.at;
        if (!made.needs_server) plan.serverless.insert({conversation_id, turn.turn_key});
    }
    plan.summaries.push_back(std::move(summary));
}

/// A summary stays owed only while there is an agent server to ask for its words and it is not frozen.
Result<void> Planner::decide_what_is_owed(Transaction& transaction, Plan& plan) const {
    std::vector<ConversationId> candidates;
    for (const SummaryRow& summary : plan.summaries)
        if (summary.owed) candidates.push_back(summary.conversation_id);
    if (candidates.empty()) return {};
    if (!asking_.by_default) {
        TRY(candidates, transaction.agent_endpoints().among(candidates));
    }
    const std::set<ConversationId> askable(candidates.begin(), candidates.end());
    std::map<TurnId, std::optional<Instant>> owed;  ///< since when; from now on
    for (SummaryRow& summary : plan.summaries) {
        if (!summary.owed) continue;
        summary.owed = askable.contains(summary.conversation_id) ||
                       plan.serverless.contains({summary.conversation_id, summary.turn_key});
        if (!summary.owed) continue;
        TRY(const auto known, transaction.summaries().find({summary.conversation_id, summary.turn_key}));
        summary.owed = !known || known->owed;
        // Who comes while the server is asked waits no longer than those who were there.
        if (summary.owed)
            owed[{summary.conversation_id, summary.turn_key}] =
                known ? std::optional(known->created_at) : std::nullopt;
    }
    if (owed.empty()) return {};
    TRY(const Instant now, transaction.now());
    for (DeliveryRow& delivery : plan.deliveries) {
        const auto since = owed.find({delivery.conversation_id, delivery.turn_key});
        if (since == owed.end()) continue;
        delivery.next_attempt_at = since->second.value_or(now) + asking_.deadline;
        plan.waiting.insert(delivery.id);
    }
    return {};
}

MadeSummary Planner::summary_of(const TurnEnd& turn, const ConversationId& conversation_id) const {
    return summarise(turn, conversation_id, rules_);
}

Result<std::vector<DeliveryId>> Planner::write(Transaction& transaction, Plan& plan,
                                               const std::vector<CallbackRow>& callbacks) const {
    for (const CallbackRow& callback : callbacks) {
        const auto& changed = plan.changed_callbacks;
        if (std::find(changed.begin(), changed.end(), callback.id) != changed.end())
            TRY_VOID(transaction.callbacks().update_state(callback.id, callback.state));
    }
    TRY_VOID(decide_what_is_owed(transaction, plan));
    TRY_VOID(transaction.summaries().insert(plan.summaries));
    return transaction.deliveries().insert(plan.deliveries);
}

}  // namespace epilogue
