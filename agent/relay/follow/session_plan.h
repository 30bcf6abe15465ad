// Follows a session socket (servers from 1.45.0): it numbers the events of the log and replays them from
// where we stand. REST is asked only for what the socket cannot send, and whether it has gone deaf.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agent/relay/follow/plan.h"

namespace epilogue::relay {

class SessionPlan final : public FollowPlan {
  public:
    using FollowPlan::FollowPlan;

  private:
    void start() override { connect(); }
    void restart() override { restart_after(std::chrono::milliseconds(0)); }
    void restart_after(std::chrono::milliseconds pause) override;
    void sync(const SyncFrame& frame) override;
    void frame(EventFrame frame) override;
    void down(const SocketDown& down) override;
    void page(PageRead page) override;
    void count(const CountRead& read) override;
    void failed(const ReadFailed& failure) override;
    void fired(Timer timer) override;
    bool is_at_end() const override { return is_synced_ && ahead().next >= server_count(); }

    void connect(std::chrono::milliseconds pause = {});
    void numbered(agent::RemoteEvent event, std::int64_t seq);
    void unnumbered(agent::RemoteEvent event);
    void take(const agent::RemoteEvent& event);
    void hold(agent::RemoteEvent event, std::int64_t seq);
    void take_held();
    void ask_for_missing();
    void step_over(const PageRead& page);
    void give_up_missing(std::int64_t found);
    void read_tail(bool is_last_page);
    void seek_tail(std::int64_t count);
    void produce_run_overs();

    /// Of this connection.
    bool is_synced_ = false;  ///< it has said how far the log goes
    bool snapshot_seen_ = false;
    bool proves_position_ = false;  ///< its replay begins with the event at which we stand
    /// They came before an earlier one, by index.
    std::map<std::int64_t, agent::RemoteEvent> held_;
    std::size_t held_bytes_ = 0;
    bool dropped_ = false;  ///< for want of room
    bool reading_ = false;  ///< what stands behind the event at which we stood
    std::string asked_behind_;
    struct RunOver {
        agent::RemoteEvent snapshot;
        std::int64_t behind = 0;  ///< so many events of the log were told before it
    };
    std::deque<RunOver> run_overs_;
    std::set<std::string> awaited_;  ///< told without a number, and not taken yet
    std::int64_t seen_ = 0;          ///< the highest number that was told, and one more
    bool at_unsendable_ = false;     ///< because the socket cannot send it, or the one at which we stand
    bool at_own_place_ = false;      ///< it is the latter, or both
    std::uint64_t frames_ = 0;
    std::optional<std::uint64_t> deaf_since_;  ///< frame, when the log has more than came
    /// What the socket did not tell although it was opened anew for it: the log's count, and where we stood.
    struct Tail {
        std::int64_t count = 0;
        std::int64_t from = 0;
        bool is_read = false;  ///< by REST, because the new socket did not tell it either
    };
    std::optional<Tail> tail_;
    std::int64_t unreadable_ = 0;  ///< events that the server counts, and shows in no way
};

}  // namespace epilogue::relay
