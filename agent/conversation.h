// A conversation on an agent server as if it were here: its operations, its state, its events as they come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/calls.h"
#include "agent/completion_log.h"
#include "agent/event_list.h"
#include "agent/hooks.h"
#include "agent/socket.h"
#include "agent/state.h"

namespace epilogue::agent {

class EventFeed;
class RunWatch;
struct SeenStatus;

/// What this side adds to a conversation.
struct ConversationOptions {
    /// Each gets every event once, on a thread of the conversation; what no log holds, such as the pieces of
    /// a message, is left out where they are too slow for it. One that throws does not stop the others. They
    /// may call anything but close().
    std::vector<std::function<void(const RemoteEvent&)>> callbacks;
    HookConfig hooks;
    std::filesystem::path hook_folder = std::filesystem::current_path();
    CompletionLogs completion_logs;
    SocketLimits socket;
    /// How long creating or attaching waits for the events that are there already; what is late comes later.
    std::chrono::milliseconds first_sync{15'000};
    /// Attaching is given up then, as `timed_out`.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    /// False: for one who only runs it. The log is not read; events() has what came since, and callbacks too.
    bool reads_log = true;
    /// After so long without an event the server is asked whether something was missed, or the conversation
    /// is gone; then after twice as long, up to ten times.
    std::chrono::milliseconds look_after{30'000};
};

/// A secret's value, or a call that gives it when it is sent.
using SecretSource = std::function<Secret()>;

/// How a run ended.
struct RunEnd {
    std::string status;  ///< finished, paused, waiting_for_confirmation, error, stuck
    std::string reason;  ///< of an error: "code: detail"; of stuck: a sentence; else ""

    bool failed() const { return status == "error" || status == "stuck"; }
};

/// Thread-safe.
class RemoteConversation {
  public:
    using Milliseconds = std::chrono::milliseconds;

    /// Creates one from `request` (see create_conversation), and attaches to it. When the attaching fails the
    /// conversation is there nevertheless: the error's text holds its id.
    static AgentResult<std::unique_ptr<RemoteConversation>> create(std::shared_ptr<const AgentServer> server,
                                                                   std::string_view request,
                                                                   ConversationOptions options = {});
    /// Attaches to one that is there. `not_found` when it is not.
    static AgentResult<std::unique_ptr<RemoteConversation>> attach(std::shared_ptr<const AgentServer> server,
                                                                   const std::string& id,
                                                                   ConversationOptions options = {});
    ~RemoteConversation();
    RemoteConversation(const RemoteConversation&) = delete;
    RemoteConversation& operator=(const RemoteConversation&) = delete;

    const std::string& id() const;
    /// The operations that need nothing of this side.
    const ConversationCalls& calls() const { return *calls_; }

    /// The newest state. Asked of the server when the socket does not stand.
    AgentResult<ConversationState> state() const;
    /// The events that are known here, in the server's order.
    EventList events() const;
    /// Has `events` compared with the server's log.
    AgentResult<void> reconcile(Milliseconds deadline) const;
    /// True while events come by themselves.
    bool is_live() const;

    /// Why events come no more by themselves: the key is refused, or the conversation is gone.
    std::optional<AgentError> ended() const;
    /// Why the server's log could not be read the last time, as long as that is so: what was before is
    /// missing, what comes is told. It is asked for again after growing pauses, and given up in the end.
    std::optional<AgentError> log_fault() const;

    /// Lets the agent work; does not wait for its end. False when it worked already.
    AgentResult<bool> start();
    /// Lets the agent work, as soon as the server has room for it, and waits for the end, as wait_for_end()
    /// does.
    AgentResult<RunEnd> run(Milliseconds deadline = std::chrono::hours(1));
    /// Waits until the agent has stopped working, at most for `deadline` (timed_out; it may work on). The
    /// socket tells it with the snapshot of a run that is over; where none comes, or the socket is down, REST
    /// confirms it. Where the conversation has stop hooks, `finished` ends nothing before all of them have
    /// let it pass; while a `/goal` loop goes on, neither `finished` nor `stuck` ends anything. The end is
    /// reported once all events are here, unless the log cannot be read.
    AgentResult<RunEnd> wait_for_end(Milliseconds deadline = std::chrono::hours(1));

    /// Sends the secrets, each asked for now. `invalid` when one cannot be had.
    AgentResult<void> update_secrets(const std::vector<std::pair<std::string, SecretSource>>& secrets) const;
    /// The agent's last words: from the server where it offers that, else from the events.
    AgentResult<std::string> final_response() const;

    /// Runs the session's end hooks, then ends what is here: socket, threads, waits. The conversation goes
    /// on. Does nothing the second time. Not from a callback.
    void close();

  private:
    RemoteConversation(std::shared_ptr<ConversationCalls> calls, ConversationOptions options);
    void open(const std::string& info, const Features& features);
    void on_event(const EventRef& event) const;
    void run_session_hooks(const std::vector<Hook>& hooks, std::string_view kind) const;
    AgentResult<bool> start(std::chrono::steady_clock::time_point deadline,
                            std::chrono::steady_clock::time_point room_until);
    void look_for_goal(RunWatch& watch, std::chrono::steady_clock::time_point deadline) const;
    bool confirmed(RunWatch& watch, const std::string& info,
                   std::chrono::steady_clock::time_point deadline) const;
    std::size_t hooks_passed(RunWatch& watch, const std::string& info,
                             std::chrono::steady_clock::time_point deadline) const;
    AgentResult<void> wait_for(Milliseconds pause) const;
    AgentResult<void> wait_for_change(Milliseconds most) const;
    AgentResult<RunEnd> wait(const std::string& before, const SeenStatus& newest,
                             std::chrono::steady_clock::time_point deadline);
    AgentResult<RunEnd> conclude(const std::string& status, std::chrono::steady_clock::time_point deadline);
    std::string error_reason(std::chrono::steady_clock::time_point deadline) const;

    std::shared_ptr<ConversationCalls> calls_;
    ConversationOptions options_;
    std::unique_ptr<EventFeed> feed_;
    std::atomic<bool> closed_ = false;
};

}  // namespace epilogue::agent
