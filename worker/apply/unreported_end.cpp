#include "worker/apply/unreported_end.h"

#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

Result<bool> has_unreported_end(Transaction& transaction, const ConversationId& conversation_id,
                                const Conversation& conversation, const Processor& place) {
    if (!conversation.last || !std::holds_alternative<Ended>(conversation.turn_state)) return false;
    TRY(const bool told, transaction.deliveries().exists_to({conversation_id, conversation.last->turn_key},
                                                            place.sink, describe(place)));
    return !told;
}

}  // namespace epilogue
