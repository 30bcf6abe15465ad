// From a counted turn to its summary, without network: the agent's last words and the digest's facts.
// Contract §10 "Body".
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "schemas/summary.h"
#include "worker/core/conversation.h"

namespace epilogue {

struct SummaryRules {
    std::vector<std::string> sources{"final", "digest"};  ///< in this order; digest always succeeds
    std::string web_url;                                  ///< with {conversation_id}; empty: no link
};

struct MadeSummary {
    Summary summary;
    std::string source;  ///< "final" when the agent's words are in it, else "digest"
};

/// Whether the agent's last words belong into a summary: "digest" before "final" leaves them out.
bool wants_final_message(const SummaryRules& rules);

/// Makes the summary of one turn. Pure: the same turn gives the same bytes.
MadeSummary summarise(const TurnEnd& turn, const ConversationId& conversation_id, const SummaryRules& rules);

}  // namespace epilogue
