#include "tests/sim/pending_posts.h"

#include <algorithm>

#include "schemas/summary.h"
#include "tests/sim/places.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue::sim {

testing::OwedPost owe(Database& database, std::int64_t number) {
    CallbackRow callback;
    callback.id = {database.next_callback++};
    callback.conversation_id = ConversationId("s" + std::to_string(number));
    callback.state.phase = Phase::delivering;
    callback.state.last_turn_key = TurnKey("start");
    const Place place = place_of(number);
    callback.processor_type = place.sink;
    callback.processor_json = place.processor_json;
    DeliveryRow delivery;
    delivery.id = DeliveryId("delivery-" + std::to_string(number));
    delivery.callback_id = callback.id;
    delivery.turn_key = callback.state.last_turn_key;
    delivery.conversation_id = callback.conversation_id;
    delivery.sink = place.sink;
    delivery.target = place.name;
    delivery.created_at = database.now();
    delivery.next_attempt_at = database.now();
    const std::int64_t ordinal = database.next_ordinal++;
    database.ordinals[delivery.id] = ordinal;
    database.delivery_turns.insert({callback.id, delivery.turn_key});
    database.summaries[{callback.conversation_id, delivery.turn_key}] = {
        callback.conversation_id, delivery.turn_key, "final", to_json(Summary{"**Finished**", "", "", ""})};
    testing::OwedPost owed{callback.id.value,
                           callback.conversation_id,
                           delivery.target,
                           delivery.turn_key,
                           delivery.id,
                           "**Finished**",
                           "",
                           false};
    database.callbacks[callback.id] = std::move(callback);
    database.put_delivery(ordinal, std::move(delivery));
    return owed;
}

bool all_over(const Database& database) {
    return database.timed.empty() && database.due_for_dedup.empty() &&
           std::all_of(database.deliveries.begin(), database.deliveries.end(),
                       [](const auto& entry) { return is_final(entry.second.progress.state); });
}

}  // namespace epilogue::sim
