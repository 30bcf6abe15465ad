// A conversation with a real agent server whose LLM follows a script, and what the client made of it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "agent/conversation.h"
#include "tests/agent/real_server.h"

namespace epilogue::testing {

/// Old servers stand still as a whole now and then, and the machine may be crowded.
constexpr std::chrono::seconds run_patience{600};

/// The value; throws std::runtime_error with the error when there is none.
template <class T>
T expect(agent::AgentResult<T> result) {
    if (!result)
        throw std::runtime_error(std::string(name_of(result.error().kind)) + ": " + result.error().text);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The server has lost a conversation's log. 1.7.3 appends the error of a failed run without its own lock:
/// when statistics are appended in the same moment the log cannot be read any more.
class LogLost : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What a request needs for an agent whose history is condensed by an LLM that follows this script.
std::string with_condenser(const RealServer& server, const std::string& script);

/// One conversation and what its callback saw. Errors are std::runtime_error.
class ScriptedConversation {
  public:
    /// Creates it. `more`: JSON that is merged into the request. `port`: of a proxy before the server.
    ScriptedConversation(const RealServer& server, const std::string& script, const std::string& more = "{}",
                         std::optional<unsigned short> port = std::nullopt);

    agent::RemoteConversation& operator*() const { return *conversation_; }
    agent::RemoteConversation* operator->() const { return conversation_.get(); }

    /// Sends a message, by default the one that tells the script where to work.
    ScriptedConversation& send(const std::string& text = "");
    /// Lets the agent work to its end.
    agent::RunEnd run();
    /// Lets it begin, and waits until it works.
    void start();

    /// It waits for confirmation: each of its actions is accepted until it has finished.
    void accept_until_finished();

    /// The server was killed. 1.35.0 and older tell an event before they store it: of what was told so far
    /// the one that was about to be stored may be missing in the log for good.
    void server_was_killed();

    /// Empty when list and callbacks have exactly the server's log, each event once; else what differs.
    /// Throws LogLost.
    std::string difference();

  private:
    std::vector<std::string> log() const;
    std::string differs_now();

    const RealServer& server_;
    std::mutex mutex_;
    std::vector<std::string> seen_;
    std::set<std::string> seen_before_kill_;
    std::unique_ptr<agent::RemoteConversation> conversation_;
};

}  // namespace epilogue::testing
