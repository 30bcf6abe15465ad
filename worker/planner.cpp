#include "worker/planner.h"

#include <algorithm>

#include "base/ids.h"
#include "schemas/processor.h"

namespace epilogue {

std::string Planner::delivery_id(std::int64_t callback_id, const std::string& conversation_id,
                                 const std::string& turn_key) const {
    std::string name = std::to_string(callback_id);
    name += '\0';
    name += conversation_id;
    name += '\0';
    name += turn_key;
    return uuid_v5(installation_id_, name);
}

void Planner::add(const std::string& conversation_id, const TurnEnd& turn, const Source& source,
                  std::vector<CallbackRow*> callbacks, Plan& plan) const {
    bool reported = false;
    for (CallbackRow* callback : callbacks) {
        auto next = step(callback->state, callback->options,
                         TurnCounted{turn.turn_key, turn.verdict,
                                     turn.opened_on && *turn.opened_on > callback->adopted_at});
        if (!next.plan) continue;
        plan.changed_callbacks.push_back(callback->id);
        const auto processor = decode_processor(callback->processor_type, callback->processor_json);
        if (!processor) {
            callback->state =
                step(callback->state, callback->options, RowFound{processor.error().text}).state;
            continue;
        }
        callback->state = std::move(next.state);
        DeliveryRow delivery;
        delivery.id = delivery_id(callback->id, conversation_id, turn.turn_key);
        delivery.callback_id = callback->id;
        delivery.turn_key = turn.turn_key;
        delivery.conversation_id = conversation_id;
        delivery.sink = processor->sink;
        delivery.target = describe(*processor);
        delivery.verdict = turn.verdict;
        delivery.source_partition = source.partition;
        delivery.source_offset = source.offset;
        delivery.next_attempt_at = source.at;
        plan.deliveries.push_back(std::move(delivery));
        reported = true;
    }
    if (!reported) return;
    const MadeSummary made = summarise(turn, conversation_id, rules_);
    plan.summaries.push_back({conversation_id, turn.turn_key, made.source, to_json(made.summary)});
}

Summary Planner::summary_of(const TurnEnd& turn, const std::string& conversation_id) const {
    return summarise(turn, conversation_id, rules_).summary;
}

Result<std::vector<std::string>> Planner::write(Transaction& transaction, const Plan& plan,
                                                const std::vector<CallbackRow>& callbacks) const {
    for (const CallbackRow& callback : callbacks) {
        const auto& changed = plan.changed_callbacks;
        if (std::find(changed.begin(), changed.end(), callback.id) != changed.end())
            TRY_VOID(transaction.put_callback_state(callback.id, callback.state));
    }
    TRY_VOID(transaction.insert_summaries(plan.summaries));
    return transaction.insert_deliveries(plan.deliveries);
}

}  // namespace epilogue
