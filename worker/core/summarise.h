// From a counted turn to its summary, without network: the words of the first source that has some, and the
// digest's facts. Contract §10 "Body".
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "schemas/summary.h"
#include "worker/core/conversation.h"
#include "worker/core/phrases.h"
#include "worker/core/summary_source.h"

namespace epilogue {

struct SummaryRules {
    std::vector<SummarySource> sources;     ///< tried in this order; the last one always has words
    std::string web_url;                    ///< with {conversation_id}; empty: no link
    Language language = Language::english;  ///< of our own words
    bool figures = false;                   ///< with what the turn took
};

struct MadeSummary {
    Summary summary;
    std::string source;        ///< the name of the source whose words are in it
    bool may_ask = false;      ///< that source, or one before it, may know better words once it is asked
    bool needs_server = true;  ///< all of those that may ask the conversation's agent server alone
};

/// The one line of a notice, and the link. Pure, as the following.
Summary summarise(const Notice& notice, const ConversationId& conversation_id, const SummaryRules& rules);

/// Makes the summary of one turn. Pure: the same turn gives the same bytes.
MadeSummary summarise(const TurnEnd& turn, const ConversationId& conversation_id, const SummaryRules& rules);

}  // namespace epilogue
