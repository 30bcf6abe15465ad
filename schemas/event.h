// One conversation event as a value: what the fold needs of it, nothing else. Both generations of OpenHands
// (V0: `action`/`observation`, integer ids; V1: `kind`, UUID ids) become the same values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "schemas/line_change.h"

namespace epilogue {

enum class Schema { v0, v1 };

/// How the agent spoke: with its finish tool, or with a message.
enum class MessageKind { finish, message };

struct UserMessage {          ///< source user; opens a turn or joins the open one
    std::string origin = {};  ///< the place it came from, as schemas/origin.h has it; empty: not known
};
struct AgentAction {        ///< any agent action that is not a word
    std::string step = {};  ///< what it does: a command, or a tool's name with the file it is used on
};
struct AgentMessage {  ///< an agent message, or a finish action that could be parsed
    MessageKind kind = MessageKind::message;
    std::string text;
};
struct StatusChange {    ///< V1 execution_status, V0 agent_state
    std::string status;  ///< as the server spells it
    std::string reason;  ///< V0 only, may be empty
};
struct ErrorDetail {  ///< V1 ConversationErrorEvent: the reason of an error, after its status
    std::string code;
    std::string detail;
    std::string kind = {};  ///< the server's classification, such as "rate_limit"; may be empty
};
struct GoalUpdate {  ///< V1 state update `goal`: how a `/goal` loop of several rounds stands
    bool active = false;
    std::string outcome;  ///< running | complete | capped | interrupted, as the server spells it
    std::int64_t rounds = 0;
    std::int64_t max_rounds = 0;
};
struct StopHookVerdict {  ///< what a stop hook said of a `finished`
    bool is_denied = false;
};
struct RunOver {  ///< V1 `full_state` that a server sends when a run is over (record header `run_over: 1`)
    std::string status;  ///< the conversation's then
};
struct Activity {};  ///< a sign of life that steers nothing: observations, stats, full_state, pauses, …

using Body = std::variant<UserMessage, AgentAction, AgentMessage, StatusChange, ErrorDetail, GoalUpdate,
                          StopHookVerdict, RunOver, Activity>;

// What an event tells about the work done; `id` makes a repeated event harmless.
struct CommandStarted {
    std::string id;  ///< of the action
    std::string command;
};
struct CommandEnded {
    std::string id;            ///< of the action it answers
    int exit_code = 0;         ///< -1: it still runs, or that is not known
    std::string command = {};  ///< as it was run; empty: more was read of the one before it
    std::string output = {};   ///< its beginning and its end, max_output_bytes at most
    std::string folder = {};   ///< where it left the shell; may be empty
};
constexpr std::size_t max_output_bytes = std::size_t{8} << 10U;
enum class FileChange { created, edited, deleted };
struct FileChanged {
    std::string path;
    FileChange change = FileChange::edited;
    std::optional<LineChange> lines = {};  ///< none: the edit does not tell
};
struct BranchMoved {  ///< a commit, or a push
    std::string branch;
    std::string hash;  ///< short; may be empty
    bool is_pushed = false;
};
struct RequestMade {  ///< a pull or merge request that the agent opened or pushed to
    std::string url;
};
struct ErrorSeen {  ///< an error that went back to the agent
    std::string id;
    std::string text;
    bool is_edit = false;  ///< of a file that was to be changed
};
struct ToolSucceeded {};  ///< of a tool that is neither a shell nor an editor
struct OutcomeSaid {      ///< what a finish action says of the task, where it says it
    bool is_reached = true;
};
struct TaskRefused {  ///< V0's `reject`
    std::string reason;
};
struct UsageTold {          ///< what the conversation has cost from its beginning on
    std::int64_t cost = 0;  ///< millionths of a dollar
    std::int64_t tokens_in = 0;
    std::int64_t tokens_out = 0;
    bool operator==(const UsageTold&) const = default;
};
using Work = std::variant<CommandStarted, CommandEnded, FileChanged, BranchMoved, RequestMade, ErrorSeen,
                          ToolSucceeded, OutcomeSaid, TaskRefused, UsageTold>;

struct Event {
    Schema schema = Schema::v1;
    std::string id;           ///< V0: the integer in decimal
    std::int64_t number = 0;  ///< V0's id; 0 for V1
    std::optional<std::int64_t>
        seq;  ///< V1: its index in the server's log, where the record's header says it
    std::optional<Instant> timestamp;  ///< its own, as the server's clock wrote it
    bool is_utc = false;               ///< that says its zone; else it is the server's local time
    Body body;
    std::vector<Work> work;
    std::optional<bool> has_stop_hook;  ///< it tells whether the conversation has a stop hook
};

}  // namespace epilogue
