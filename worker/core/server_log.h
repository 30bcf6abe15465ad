// A conversation as its agent server tells it, and how much of that is not known of it yet. Pure.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "schemas/event.h"
#include "worker/core/conversation.h"

namespace epilogue {

struct ServerLog {
    std::vector<Event> events;  ///< all of its log, in the server's order
    std::string status;         ///< its execution status, read after the log
};

/// True while no turn of the conversation is known, open or ended.
bool is_unseen(const Conversation& conversation);

/// The end of the log that `conversation` does not know: from the first event on that could steer it, stands
/// behind all that it knows by id, and is newer than what it has applied.
std::span<const Event> missed(const Conversation& conversation, const std::vector<Event>& log);

/// True when a turn has begun in it: there is something to know.
bool has_begun(const ServerLog& log);

/// True when the log's last status is an end that has not stood for `settle` at `now`: it may be taken back.
/// Judged by the server's own times, where they can be ours.
bool is_unsettled(const ServerLog& log, Instant now, std::chrono::milliseconds settle);
/// True when a pending `finished` had stood for `settle` before `event` happened, by the server's own
/// times.
bool had_settled(const Conversation& conversation, const Event& event, std::chrono::milliseconds settle);
/// Servers write their local time. Where it cannot be ours, nothing is concluded from it.
bool has_our_time(const std::vector<Event>& log, Instant now);

/// True when the server says that the log's last status stands: nothing is on its way.
bool is_current(const ServerLog& log);
/// The same, and the status ends a turn: nothing can take that back.
bool has_ended(const ServerLog& log);

}  // namespace epilogue
