// One instruction to an agent, and the wait for its answer (decision 0020): what is due next follows from
// what stands in the conversation's log behind the turn's end.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "agent/error.h"
#include "agent/event.h"
#include "worker/sources/final_message_source.h"

namespace epilogue {

/// The port to the conversation that is told: its agent server, or a simulated one. No call goes on beyond
/// the question's deadline; after that each ends as `timed_out`, and nothing is sent.
class InstructedAgent {
  public:
    InstructedAgent() = default;
    InstructedAgent(const InstructedAgent&) = delete;
    InstructedAgent& operator=(const InstructedAgent&) = delete;
    virtual ~InstructedAgent() = default;

    /// Shows the log's events from the last one backwards, until `wants_more` is false or the log begins.
    virtual agent::AgentResult<void> read_back(
        const std::function<bool(const agent::RemoteEvent&)>& wants_more) = 0;
    /// Why the agent cannot be told anything now; "": it can.
    virtual agent::AgentResult<std::string> hindrance() = 0;
    /// Appends a message of the user, and lets the agent work.
    virtual agent::AgentResult<void> send(const std::string& text) = 0;
    /// Lets the agent work.
    virtual agent::AgentResult<void> run() = 0;
    /// True when the worker stops before the pause is over.
    virtual bool is_stopped_within(std::chrono::milliseconds pause) = 0;
};

/// Whether that status ends an agent's work: a turn's, or its answer's.
bool ends_answer(std::string_view status);

/// Sends `text` with the mark of `ask_id`, unless the log has it, and returns the answer; looks again and
/// again until it is there. The calls' own deadline ends it.
FinalMessageReply instruct(InstructedAgent& agent, const FinalMessageQuery& query, const std::string& ask_id,
                           const std::string& text);

}  // namespace epilogue
