// A conversation as its log has told it so far: values only. fold.h changes it, nothing else does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "schemas/event.h"
#include "schemas/verdict.h"
#include "worker/core/digest.h"

namespace epilogue {

/// The newest thing the agent said in a turn.
struct FinalMessage {
    MessageKind kind = MessageKind::message;
    std::string text;           ///< at most max_message_bytes; one that was cut says so (redacted_words)
    std::optional<Instant> at;  ///< its own timestamp
    bool operator==(const FinalMessage&) const = default;
};
constexpr std::size_t max_message_bytes = std::size_t{16} << 10U;

/// Why an error happened: V1 code and detail; V0 has its reason as code. Each has at most max_message_bytes.
struct Reason {
    std::string code;
    std::string detail;
    std::string kind = {};  ///< the server's classification; may be empty
    bool operator==(const Reason&) const = default;
};

/// A turn that has not ended yet.
struct Turn {
    TurnKey key;  ///< id of the event that opened it, or "start"
    /// The place that all user messages of it came from; empty: not known, or there are several.
    std::string origin = {};
    std::optional<Instant> opened_on;  ///< record time of that event
    std::optional<Instant>
        opened_at;  ///< own timestamp of that event; agent messages older than it are not the turn's
    /// Own timestamp of what was seen of it before its opening was told; none: its opening came first.
    std::optional<Instant> first_at;
    bool agent_acted = false;  ///< an agent action or message stands after the opening
    bool status_seen = false;  ///< a status was applied since the opening (or since a revocation)
    std::optional<FinalMessage> final_message;
    std::optional<Reason> reason;       ///< an error's detail that came before its status
    Digest digest;                      ///< kept only while a callback watches
    std::vector<Verdict> noticed = {};  ///< what held it up, as far as it was told, since the agent last ran
    bool operator==(const Turn&) const = default;
};

// Where the conversation stands between its turns. Each holds only what is true in it.
struct NoTurn {  ///< nothing seen yet that opens one
    /// Record time at which it counts as `timeout` that nothing was ever read of a conversation whose records
    /// may be lost; none: that is not so, or a server may still tell of it.
    std::optional<Instant> due = {};
};
struct Open {
    Turn turn;
    /// Record time at which its inactivity counts as `timeout`; none: no callback waits for it.
    std::optional<Instant> due = {};
    bool asked = false;  ///< its agent server was asked about the inactivity and has until `due` to answer
};
struct Candidate {  ///< V1 said `finished`; it counts unless it is revoked before `due`
    Turn turn;
    std::string status_event;
    std::optional<Instant> at;  ///< own timestamp of that status
    Instant due;                ///< record time
    bool awaits_hook = false;   ///< a stop hook has not answered yet
};
struct AwaitingDetail {  ///< `error` has counted; its reason is awaited until `due`
    Turn turn;
    std::string status_event;
    Instant due;
};
/// V0: the agent has spoken after a turn that ended as awaiting_user_input, and no `running` was read.
struct UnopenedTurn {
    TurnKey key;  ///< id of its first word
    Instant opened_on;
    FinalMessage final_message;
};
struct Ended {  ///< the last turn has been counted, no other is open
    bool by_timeout = false;
    std::optional<UnopenedTurn> unopened = {};
};
using TurnState = std::variant<NoTurn, Open, Candidate, AwaitingDetail, Ended>;

/// The end of a turn whose opening has not been told yet: old servers' webhooks overtake each other.
struct EarlyEnd {
    std::string status;
    std::string status_event;
    Instant at;                         ///< own timestamp
    std::optional<Reason> reason = {};  ///< `error` only
    bool operator==(const EarlyEnd&) const = default;
};

/// A counted turn: what is reported of it.
struct TurnEnd {
    TurnKey turn_key;
    Verdict verdict = Verdict::finished;
    std::string status_event;                  ///< id of the status that ended it
    std::optional<std::string> final_message;  ///< the agent's last; finished and awaiting_user_input only
    std::optional<Reason> reason;              ///< error only, when it became known
    std::optional<Instant> opened_on;          ///< record time of its opening
    Digest digest;
    bool may_lie_in_gap = false;        ///< timeout only: its end may be among records that were never read
    std::optional<Instant> first_at{};  ///< as the turn's
    std::string origin = {};            ///< likewise
    bool operator==(const TurnEnd&) const = default;
};

/// What holds an open turn up: told once, until the agent has run again. (contract §4 "Notices")
struct Notice {
    TurnKey key;  ///< its own: "notice:" and the id of the status that says it
    Verdict verdict = Verdict::paused;
    TurnKey turn_key;
    std::string origin;  ///< the turn's
    std::string action;  ///< the one that waits to be confirmed, as a step of the digest; empty: not known
    bool operator==(const Notice&) const = default;
};

/// A `/goal` loop, as its newest update says.
struct GoalLoop {
    bool active = false;
    std::optional<Instant> at;  ///< that update's own timestamp
    bool operator==(const GoalLoop&) const = default;
};

/// An event that is old, or of a server whose clock was set back: the next ones will show it.
struct HeldEvent {
    Event event;  ///< without its work, which the digest has
    Instant at;   ///< record time
};

/// The newest events in a row agree that their server's clock is in another zone than it was.
struct ClockJump {
    std::chrono::minutes zone{0};
    int events = 0;
    std::vector<HeldEvent> held;  ///< those of them that were late else
};

/// Own timestamps are kept in UTC, as far as the server's zone is known.
struct Conversation {
    std::string status;               ///< newest raw status, in the order of the log
    bool agent_since_status = false;  ///< an agent event stands after it
    TurnState turn_state;
    std::optional<Instant> newest;  ///< latest own timestamp among statuses, agent actions and words applied
    std::optional<Instant> newest_status;     ///< latest own timestamp among statuses applied
    std::int64_t highest_number = -1;         ///< V0: highest id applied
    std::vector<std::string> recent;          ///< V1: ids of the last 64 steering events, oldest first
    std::optional<TurnEnd> last;              ///< the last counted turn, for late registration
    std::optional<EarlyEnd> early_end;        ///< it is applied when what opens its turn is told
    std::optional<FinalMessage> early_words;  ///< the newest of a turn whose opening has not been told yet
    std::optional<Instant> last_event_at;     ///< record time
    std::optional<GoalLoop> goal;             ///< none: it never had one
    bool has_stop_hook = false;
    std::optional<std::chrono::minutes> zone;  ///< of the server's clock; none: taken as UTC
    std::optional<ClockJump> clock_jump;
    std::int64_t highest_seq = -1;   ///< V1: highest index in the server's log that was applied
    bool follows_seq = false;        ///< all that was applied stands at or before that index
    std::optional<UsageTold> usage;  ///< what it has cost so far, as far as a callback watched
    /// Database time at which its newest event was applied, or its agent server told all that it knows.
    std::optional<Instant> heard_at;
};
constexpr std::size_t max_recent_ids = 64;

/// When the pending timer of a conversation is due (record time); nullopt when none is running.
std::optional<Instant> due_at(const Conversation& conversation);

/// The turn that is open, a candidate or awaiting its detail; nullptr when there is none.
const Turn* current_turn(const Conversation& conversation);

}  // namespace epilogue
