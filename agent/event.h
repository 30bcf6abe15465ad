// One event of a conversation as the server told it: the text, and the few members that this client acts on.
// Unknown kinds and members are harmless.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epilogue::agent {

/// What a stop hook said when the agent wanted to end its run.
enum class StopVerdict { none, allowed, denied };

struct RemoteEvent {
    std::string id;
    std::string timestamp;  ///< the server's local time, without a zone: compares as text
    std::string kind;       ///< "MessageEvent", "ActionEvent", …
    std::string source;     ///< "user", "agent", "environment", …
    std::string key;        ///< of a state update: which field of the state, or "full_state"
    std::string status;     ///< of a state update: the execution status it holds, if it holds one
    std::string error;      ///< of a ConversationErrorEvent: "code: detail"
    StopVerdict stop = StopVerdict::none;  ///< of a stop hook's HookExecutionEvent
    std::optional<bool> goal;              ///< of a `/goal` loop's update: whether the loop goes on
    std::string json;                      ///< all of it, one line

    /// A snapshot of the whole state: new at each subscription, never part of the server's log.
    bool is_full_state() const { return key == "full_state"; }
    /// True unless it exists on the wire only.
    bool is_stored() const;
};

/// Reads one event. nullopt when the text is no JSON object with an id.
std::optional<RemoteEvent> parse_event(std::string_view json);

/// True for the statuses that end a run: finished, error, stuck, paused, waiting_for_confirmation. `idle` is
/// none: it is also seen before a run, after a rejection, and (in old servers) during a run.
bool ends_run(std::string_view status);

}  // namespace epilogue::agent
