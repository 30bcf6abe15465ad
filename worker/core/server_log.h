// A conversation as its agent server tells it, and how much of that is not known of it yet. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schemas/event.h"
#include "worker/core/conversation.h"
#include "worker/core/fold.h"

namespace epilogue {

struct ServerLog {
    std::vector<Event> events;  ///< all of its log, in the server's order
    std::string status;         ///< its execution status, read after the log
    bool has_stop_hook = false;
    std::optional<std::chrono::minutes> zone = {};  ///< of its clock now; none: not known
    std::string title = {};                         ///< as a user called it; may be empty
    std::optional<Instant> created_at = {};         ///< as the server says, in UTC
    std::optional<Instant> updated_at = {};
};

/// Makes the events' own times UTC, where they do not say their zone. `created_at` and `updated_at` are true:
/// the first event is not older than the one, the last not newer than the other. A clock that was moved in
/// between is recognised where the times step.
void correct_times(ServerLog& log, std::optional<Instant> created_at, std::optional<Instant> updated_at);

/// True while no turn of the conversation is known, open or ended.
bool is_unseen(const Conversation& conversation);

/// The end of the log that `conversation` does not know: from the first event on that could steer it, stands
/// behind all that it knows by id, and is newer than what it has applied.
std::span<const Event> missed(const Conversation& conversation, const std::vector<Event>& log);

/// True when a turn has begun in it: there is something to know.
bool has_begun(const ServerLog& log);

/// How long to leave a log alone whose last status is an end that may still be taken back at `now`: one that
/// has not stood for rules.settle, or of which a stop hook has not answered yet, for
/// rules.hook_wait at most. nullopt: it stands. Judged by the server's own times, where they can be ours.
std::optional<Micros> unsettled_for(const ServerLog& log, Instant now, const FoldRules& rules);
/// True when a pending `finished` had stood for long enough, as `rules` say, before `event` happened, by the
/// server's own times.
bool had_settled(const Conversation& conversation, const Event& event, const FoldRules& rules);
/// What stands at the log's end counts at once when the server confirms it: the time to step its timer to.
/// `at_their_time`: the log's own times are the timers'. A stop hook may run while the server says
/// `finished`: that one counts when it has stood for long enough at `now`.
std::optional<Instant> settled_by(const ServerLog& log, const Conversation& conversation, Instant now,
                                  bool at_their_time, const FoldRules& rules);
/// Servers write their local time. Where it cannot be ours, nothing is concluded from it.
bool has_our_time(const std::vector<Event>& log, Instant now);

/// True when the server says that the log's last status stands: nothing is on its way.
bool is_current(const ServerLog& log);
/// The same, and the status ends a turn: nothing can take that back.
bool has_ended(const ServerLog& log);

}  // namespace epilogue
