// The fold: (conversation, event) -> (conversation, turns that ended). Contract §4 "Turns" and "Counting",
// §4a's settle and error-detail timers. Pure: no clock, no I/O; times come in with the record.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/hook_wait.h"
#include "schemas/event.h"
#include "worker/core/conversation.h"

namespace epilogue {

/// What the inactivity of an open turn is judged by (contract §4a). All times are record times.
struct InactivityRules {
    std::chrono::seconds after{7200};
    std::optional<Instant> watched_since;  ///< newest adoption of a callback; none: inactivity is not watched
    std::optional<Instant> returned_at;    ///< when the partition came back from its last outage
    std::optional<Instant> gap_at;         ///< database time at which records were found to be lost
    bool may_fire = true;                  ///< false: the mass-timeout guard suspends it
};

struct FoldRules {
    std::chrono::milliseconds settle{
        2000};                ///< how long a V1 `finished` must stand, an error waits for its detail
    bool keep_digest = true;  ///< a callback watches this conversation
    InactivityRules inactivity = {};
    /// How long a `finished` waits for what a stop hook says of it.
    std::chrono::milliseconds hook_wait{default_hook_wait};
};

/// What became of one event: epilogue_events_total's outcome.
enum class Applied {
    applied,
    repeat,  ///< its id was applied before
    late,    ///< too old to steer; kept for the digest
};
std::string_view name_of(Applied applied);

struct Folded {
    Conversation conversation;
    std::vector<TurnEnd> ended;  ///< in the order they counted: at most one by timer and one by the event
    Applied applied = Applied::applied;
    std::vector<Notice> notices = {};  ///< of what holds the open turn up
};

/// Applies one event whose record time is `at`. A timer that is due at `at` fires first.
Folded fold(Conversation conversation, const Event& event, Instant at, const FoldRules& rules);

/// True unless the event is a mere sign of life.
bool could_steer(const Event& event);

/// True when the event changes nothing of a conversation without a callback: V1's signs of life. (V0 knows a
/// repeat by its number, so each of its events counts.)
bool is_for_watchers(const Event& event);

/// Lets time pass: fires the pending timer when its due time is `now` or earlier.
Folded tick(Conversation conversation, Instant now, const FoldRules& rules = {});

/// True when the pending timer would count a `timeout` at `now`: the mass-timeout guard has to be asked
/// first.
bool would_time_out(const Conversation& conversation, Instant now, const InactivityRules& rules);

/// True when nothing was heard of the conversation since records of its partition were found to be lost: what
/// looks like inactivity may be an end that was among them.
bool was_last_heard_before_gap(const Conversation& conversation, const InactivityRules& rules);

/// Starts the timer over an open turn's inactivity anew, as after an event or when a callback was adopted at
/// rules.watched_since. The timer of watch_unread is put off.
Conversation watch_inactivity(Conversation conversation, const InactivityRules& rules);

/// No agent server can tell what records of its partition are lost of a conversation of which no turn is
/// known: its inactivity is watched from then on, as that of a turn whose opening was not seen. Changes
/// nothing of any other conversation, and of one that was heard of since.
Conversation watch_unread(Conversation conversation, const InactivityRules& rules);

}  // namespace epilogue
