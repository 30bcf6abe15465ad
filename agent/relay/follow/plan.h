// What the follower of one conversation does, as data: something happens, and the plan says what is to be
// done. Pure: no clock, no thread, no I/O. One plan for each of the two ways in which servers tell their
// events: session_plan.h (from 1.45.0) and log_plan.h (older ones).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/event.h"
#include "agent/relay/follow/ack_window.h"
#include "agent/relay/positions.h"

namespace epilogue::relay {

/// @{ What may happen.
/// A frame of a session socket, before the replay: the last index that its log has, nullopt: it is empty.
struct SyncFrame {
    std::optional<std::int64_t> through;
};
/// An event, with its index in the log where the socket says it.
struct EventFrame {
    agent::RemoteEvent event;
    std::optional<std::int64_t> seq{};
};
struct SocketDown {
    bool too_large = false;  ///< the server ended it because the next event is larger than its frames may be
};
/// What a ReadPage came to: events in the order that was asked for.
struct PageRead {
    std::vector<agent::RemoteEvent> events;
    std::string next_page_id{};  ///< "": the last page
    std::chrono::milliseconds took{0};
};
struct CountRead {
    std::int64_t count = 0;  ///< events of the server's log
};
/// A ReadPage or an AskCount came to nothing.
struct ReadFailed {
    std::chrono::milliseconds pause{0};  ///< not to be asked again before that
};
/// The server says that there is no such conversation.
struct NotFound {};
enum class Timer { look, again };
struct TimerFired {
    Timer timer;
};
/// The topic has the record of that ticket.
struct Acked {
    Ticket ticket;
};
/// The topic gave the record up.
struct GivenUp {
    Ticket ticket;
};
/// @}
using Happening = std::variant<SyncFrame, EventFrame, SocketDown, PageRead, CountRead, ReadFailed, NotFound,
                               TimerFired, Acked, GivenUp>;

/// @{ What is to be done.
/// Into the topic, after all earlier ones. Acked or GivenUp follows.
struct Produce {
    std::string json;
    std::optional<std::int64_t> seq;
    bool run_over = false;  ///< the snapshot that a server sends when a run is over
    Ticket ticket;
};
/// Connect, in the place of the connection that there is; after failures in a row with growing pauses.
/// EventFrame or SocketDown follow. `after`: of a session socket, the index behind which it begins (-1: all).
struct OpenSocket {
    std::optional<std::int64_t> after;
    std::chrono::milliseconds pause{0};  ///< not sooner; until then there is no connection
};
/// PageRead, ReadFailed or NotFound follows. `page_id`: the event with which the page begins, "": the first.
struct ReadPage {
    std::string page_id;
    bool newest_first = false;
};
/// CountRead, ReadFailed or NotFound follows.
struct AskCount {};
/// TimerFired follows, unless the timer is set again before.
struct SetTimer {
    Timer timer;
    std::chrono::milliseconds after;
};
/// All up to here is in the topic.
struct Moved {
    LogPosition position;
};
/// Events of the log that had not come, told when it is known what became of them: so many, of these brought,
/// of these gone for good. The first is the sum of the others.
struct GapSeen {
    std::int64_t found = 0;
    std::int64_t filled = 0;
    std::int64_t lost = 0;
};
/// The conversation is no more: nothing follows.
struct Ended {};
/// @}
using Effect = std::variant<Produce, OpenSocket, ReadPage, AskCount, SetTimer, Moved, GapSeen, Ended>;
using Effects = std::vector<Effect>;

struct PlanRules {
    /// After so long without a frame the server is asked whether something was missed; then after twice as
    /// long, up to ten times.
    std::chrono::milliseconds look_after{60'000};
    /// So long an event may come after one that stands behind it, before it counts as missing.
    std::chrono::milliseconds gap_patience{2'000};
    /// Before a reading that failed is tried again, unless the server asks for more; and before what the
    /// topic gave up is read again, then after twice as long, up to ten times.
    std::chrono::milliseconds retry_after{5'000};
    /// Between two readings of a log; at least as long as the last one took.
    std::chrono::milliseconds rest{50};
    std::size_t held_bytes = std::size_t{16} << 20U;  ///< of events that wait for an earlier one
};

/// Not thread-safe.
class FollowPlan {
  public:
    explicit FollowPlan(LogPosition position, PlanRules rules);
    FollowPlan(const FollowPlan&) = delete;
    FollowPlan& operator=(const FollowPlan&) = delete;
    virtual ~FollowPlan() = default;

    /// What comes first; to be called once.
    Effects begin();
    /// What is to be done now that this has happened.
    Effects step(Happening happening);

    /// What the topic is known to have.
    const LogPosition& position() const { return acked_.position(); }
    /// Events that the server is known to have and the topic is not.
    std::int64_t behind() const;
    /// Whether all that the server had when it was asked last is in the topic.
    bool caught_up() const { return is_at_end() && acked_.under_way() == 0; }

  protected:
    virtual void start() = 0;
    /// Begins anew at ahead().
    virtual void restart() = 0;
    /// The same, after that pause.
    virtual void restart_after(std::chrono::milliseconds pause) = 0;
    virtual void sync(const SyncFrame& frame) = 0;
    virtual void frame(EventFrame frame) = 0;
    virtual void down(const SocketDown& down) = 0;
    virtual void page(PageRead page) = 0;
    virtual void count(const CountRead& read) = 0;
    virtual void failed(const ReadFailed& failure) = 0;
    virtual void fired(Timer timer) = 0;
    /// Whether all that the server is known to have was produced, or cannot be had.
    virtual bool is_at_end() const = 0;

    const PlanRules& rules() const { return rules_; }
    void add(Effect effect) { effects_.push_back(std::move(effect)); }
    /// Where reading is: behind all that was produced.
    const LogPosition& ahead() const { return ahead_; }
    void stand_at(LogPosition position) { ahead_ = std::move(position); }
    /// Produces a log's event; when it is in the topic, `then` is the position.
    void produce(const agent::RemoteEvent& event, std::optional<std::int64_t> seq, LogPosition then);
    void produce_run_over(const agent::RemoteEvent& snapshot);
    /// The server has another log than the one that was read: all of it is to be read.
    void log_is_another();
    std::int64_t server_count() const { return server_count_; }
    void server_has(std::int64_t count) { server_count_ = count; }
    void server_has_at_least(std::int64_t count) { server_count_ = std::max(server_count_, count); }
    /// Plans the next look: soon when something came, later with each silent one.
    void plan_look(bool silent);

  private:
    void handle(SyncFrame&& happening) { sync(happening); }
    void handle(EventFrame&& happening) { frame(std::move(happening)); }
    void handle(SocketDown&& happening) { down(happening); }
    void handle(PageRead&& happening) { page(std::move(happening)); }
    void handle(CountRead&& happening);
    void handle(ReadFailed&& happening) { failed(happening); }
    void handle(NotFound&& happening);
    void handle(TimerFired&& happening) { fired(happening.timer); }
    void handle(Acked&& happening);
    void handle(GivenUp&& happening);

    const PlanRules rules_;
    AckWindow acked_;
    LogPosition ahead_;
    std::int64_t server_count_ = 0;
    int silent_looks_ = 0;
    int given_up_ = 0;  ///< by the topic, in a row
    bool ended_ = false;
    Effects effects_;
};

}  // namespace epilogue::relay
