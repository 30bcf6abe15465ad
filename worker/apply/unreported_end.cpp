#include "worker/apply/unreported_end.h"

namespace epilogue {

Result<bool> has_untold_end(Transaction& transaction, const std::string& conversation_id,
                            const Conversation& conversation, const Processor& place) {
    if (!conversation.last || !std::holds_alternative<Ended>(conversation.standing)) return false;
    TRY(const bool told, transaction.has_delivery_to(conversation_id, conversation.last->turn_key, place.sink,
                                                     describe(place)));
    return !told;
}

}  // namespace epilogue
