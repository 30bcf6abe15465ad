// The turns that a log tells of, as the worker would have counted them. Pure.
#pragma once

#include <optional>
#include <vector>

#include "worker/core/conversation.h"
#include "worker/core/fold.h"
#include "worker/core/server_log.h"
#include "worker/history/history.h"

namespace epilogue {

/// A turn of a log, with its own times where they can be told.
struct ReplayedTurn {
    TurnEnd end;
    std::optional<Instant> opened_at;
    std::optional<Instant> ended_at;
};

struct ReplayedLog {
    Conversation conversation;        ///< as it stands behind the log
    std::vector<ReplayedTurn> ended;  ///< oldest first
};

/// What a server's log tells: events count at their own times, and its end as the server confirms it.
ReplayedLog replay(const ServerLog& log, Instant now, const FoldRules& rules);

/// What records tell. What stands at their end counts only when they were read up to the topic's end.
ReplayedLog replay(const TopicLog& log, Instant now, const FoldRules& rules);

}  // namespace epilogue
