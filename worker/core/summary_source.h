// Where the words of a summary come from, as the planner takes it. The sources themselves, and what they ask
// over the network, are in worker/sources.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "worker/core/conversation.h"

namespace epilogue {

/// One entry of [summary] sources. Its functions are pure: the same turn gives the same bytes.
struct SummarySource {
    std::string_view name;  ///< of the setting, of summaries.source and of metrics
    /// The words that it makes of the turn alone; "": the facts say it all; nullopt: it has nothing to say of
    /// this turn, and the next source is tried.
    std::function<std::optional<std::string>(const TurnEnd& turn)> words_of;
    /// Whether it may know better words once it has been asked, outside any transaction; null: never.
    std::function<bool(const TurnEnd& turn)> may_ask = nullptr;
    bool needs_server = true;  ///< it asks the conversation's agent server, and nothing where there is none
};

}  // namespace epilogue
