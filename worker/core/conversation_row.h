// A conversation as its row in `conversations` holds it, and back. The texts are columns of their own, so
// that people and queries can read them; `fold` is JSON with the rest.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "worker/core/conversation.h"

namespace epilogue {

struct ConversationRow {
    std::string status;
    std::string verdict;    ///< trigger name of the last counted turn; empty: none
    TurnKey turn_key;       ///< of the turn that is open, else of the last counted one; empty: none
    std::string tail_kind;  ///< finish | message; empty: the agent has not spoken in that turn
    std::string tail_text;
    std::string error_code;
    std::string error_detail;
    std::string recent_ids;  ///< JSON array
    std::string digest;      ///< JSON object of that turn
    std::string fold;        ///< JSON object; empty for a conversation never seen
    std::optional<Instant> last_event_at;
    std::optional<Instant> due_at;
    int timer = 0;  ///< which one is pending: 0 none, 1 settle or error detail, 2 inactivity
    bool turn_open = false;
    bool operator==(const ConversationRow&) const = default;
};

/// The columns of this conversation; from_row gives it back.
ConversationRow to_row(const Conversation& conversation);

/// Poison when the row was not written by to_row.
Result<Conversation> from_row(const ConversationRow& row);

}  // namespace epilogue
