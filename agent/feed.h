// Keeps a conversation's events and state in step with the server: the socket tells what is new, REST what
// was missed. First the subscription, then, once it is known to stand, the log; the same after every
// reconnect.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "agent/calls.h"
#include "agent/event_list.h"
#include "agent/socket.h"
#include "agent/state.h"

namespace epilogue::agent {

/// A status as the socket told it, or that a `/goal` loop goes on or has ended, with its number.
struct SeenStatus {
    std::string status;          ///< "" of a loop
    std::uint64_t number = 0;    ///< from 1; grows with each status seen
    bool after_run = false;      ///< by the snapshot that a server sends when a run is over
    std::string timestamp{};     ///< the server's
    std::optional<bool> goal{};  ///< whether the loop goes on
};

struct FeedOptions {
    SocketAuth auth = SocketAuth::query;
    SocketLimits limits;
    /// False: only what comes is kept, and what reconcile() finds among the newest hundred events.
    bool reads_log = true;
    /// After so long without a frame the server is asked whether something was missed; then after twice as
    /// long, up to ten times.
    std::chrono::milliseconds look_after{30'000};
    /// Of the list.
    LogOrder order = LogOrder::by_time;
};

/// Thread-safe. `on_event` gets each event once, those of the wire only too, in the order in which they
/// became known, on the feed's own thread. While it is so slow that 16 MiB of events of the wire only wait
/// for it, further ones are left out.
class EventFeed {
  public:
    using Clock = std::chrono::steady_clock;
    using Listener = std::function<void(const EventRef&)>;

    /// `info`: the conversation's information, as it was asked for before.
    EventFeed(std::shared_ptr<const ConversationCalls> calls, const std::string& info, FeedOptions options,
              Listener on_event);
    ~EventFeed();
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    /// Ends socket and thread; waits that are under way end as `closed`. Safe to call twice, not from
    /// on_event.
    void stop();

    /// Has the list compared with the server's log, and returns when all of it was given to on_event. From
    /// on_event itself: only compares. Errors: the log could not be read, or not before `deadline`
    /// (timed_out).
    AgentResult<void> reconcile(Clock::time_point deadline);

    /// Waits until the log was read for the first time, well or not (where it is not read: until the socket
    /// stands), or for `deadline`. False when it was not.
    bool wait_synced(Clock::time_point deadline) const;

    /// The list now.
    EventList events() const;
    /// The state as the socket tells it.
    ConversationState state() const { return state_.snapshot(); }
    /// The conversation's information, asked of the server now; the state takes it over.
    AgentResult<std::string> ask_info(std::chrono::milliseconds deadline = {});
    /// True while the socket stands and has told a first frame.
    bool is_live() const;
    /// Whether a `/goal` loop goes on. Asked of the server (goals.h) unless that is known since this
    /// connection of the socket stands: then it tells what changes.
    AgentResult<bool> goal_goes_on(Clock::time_point deadline);
    /// Why nothing comes any more, when that is so: the key is refused, or the conversation is gone.
    std::optional<AgentError> ended() const;
    /// Why the log was not read the last time, as long as that is so.
    std::optional<AgentError> log_fault() const;

    /// The newest status that the socket told.
    SeenStatus newest_status() const;
    /// Waits for a status after number `after`, or for `deadline`; returns all of them, oldest first.
    /// `closed` once the feed was stopped.
    AgentResult<std::vector<SeenStatus>> wait_status(std::uint64_t after, Clock::time_point deadline) const;
    /// Waits until `condition` holds for the list or `deadline` is over; asked again after each new event.
    /// Returns its last answer.
    bool wait_events(Clock::time_point deadline,
                     const std::function<bool(const EventList&)>& condition) const;

  private:
    void frame(const std::string& text);
    void put_arrived(EventRef event);
    EventRef take_first_arrived();
    void down(const std::string& cause);
    void work();
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void plan_next_sync();
    void plan_next_look(bool silent);
    void look(std::unique_lock<std::mutex>& lock);
    void take_arrived(std::unique_lock<std::mutex>& lock);
    std::size_t known_events() const;
    std::size_t known_in_order() const;
    std::string settled_end() const;
    std::uint64_t connection_now() const;
    void note_goal(std::uint64_t connection);
    AgentResult<void> read_log();
    AgentResult<std::vector<EventRef>> log_to_read() const;
    void deliver(const EventRef& event);

    const std::shared_ptr<const ConversationCalls> calls_;
    const FeedOptions options_;
    const Listener on_event_;
    StateCache state_;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    EventList list_;
    std::deque<EventRef> arrived_;         ///< not in the list yet
    std::unordered_set<std::string> ids_;  ///< of those of them that logs have
    std::size_t wire_bytes_ = 0;           ///< of the others
    bool leaves_out_ = false;              ///< there was no room for one of those
    std::deque<SeenStatus> statuses_;
    std::uint64_t statuses_seen_ = 0;
    std::uint64_t syncs_wanted_ = 0;
    std::uint64_t syncs_done_ = 0;
    AgentResult<void> last_sync_;
    int failed_syncs_ = 0;  ///< in a row
    std::optional<Clock::time_point> sync_again_at_;
    std::optional<Clock::time_point> look_at_;
    int silent_looks_ = 0;  ///< in a row
    std::uint64_t frames_seen_ = 0;
    std::optional<std::uint64_t> deaf_since_;  ///< frame, when the log has more than is known here
    bool live_ = false;
    std::uint64_t connections_ = 0;
    bool goal_goes_on_ = false;
    std::uint64_t goal_updates_ = 0;      ///< told by the socket
    std::uint64_t goal_known_since_ = 0;  ///< connection
    bool stopping_ = false;
    std::optional<AgentError> ended_;

    std::thread worker_;
    std::unique_ptr<EventSocket> socket_;
};

}  // namespace epilogue::agent
