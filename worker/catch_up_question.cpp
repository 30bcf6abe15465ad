#include "worker/catch_up_question.h"

namespace epilogue {

Result<bool> ask_agent_server(Transaction& transaction, const std::string& conversation_id, CatchUpWhy why,
                              Instant at, bool has_default) {
    if (!has_default) {
        TRY(const auto own, transaction.agent_endpoint(conversation_id));
        if (!own) return false;
    }
    CatchUpRow row;
    row.conversation_id = conversation_id;
    row.why = why;
    row.next_try_at = at;
    TRY_VOID(transaction.ask_catch_up(row));
    return true;
}

}  // namespace epilogue
