// Follows a server without session sockets (1.7 to 1.44): its socket only says that there is something new;
// what it is, and in which order, is what REST shows of the log.
//
// Such a log is ordered by time, and an event can come to stand before others that were read. So what the
// socket told is looked for until it is found, and the log's count is compared with what was read. A status
// that ends a run waits for that, with all behind it: what stands before it comes first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/relay/follow/plan.h"

namespace epilogue::relay {

/// Which of the newest events of a log were produced, by a hash of their ids.
class RecentIds {
  public:
    void add(const std::string& id);
    bool contains(const std::string& id) const;
    std::size_t size() const { return hashes_.size(); }

  private:
    std::deque<std::size_t> hashes_;
};

class LogPlan final : public FollowPlan {
  public:
    using FollowPlan::FollowPlan;

  private:
    enum class Reading { none, counting, forward, counting_again, back };

    void start() override;
    void restart() override;
    void restart_after(std::chrono::milliseconds pause) override;
    void sync(const SyncFrame& /*frame*/) override {}
    void frame(EventFrame frame) override;
    void down(const SocketDown& down) override;
    void page(PageRead page) override;
    void count(const CountRead& read) override;
    void failed(const ReadFailed& failure) override;
    void fired(Timer timer) override;
    bool is_at_end() const override { return was_compared_ && reading_ == Reading::none && !wanted_; }

    void forget();
    void want_reading(bool compare);
    void begin_reading();
    void begin_forward();
    void read_forward(std::string page_id);
    void take_forward(const agent::RemoteEvent& event);
    bool has_to_wait(const agent::RemoteEvent& event) const;
    void hold(const agent::RemoteEvent& event);
    void take_held();
    void drop_held();
    void end_without_comparison();
    void forward_page(const PageRead& page);
    void end_forward();
    void look_back();
    void back_page(PageRead page);
    bool remembers_all() const;
    bool is_beyond_memory() const;
    void take_unknown();
    void end_back();
    void end_reading();
    void rest();
    void produce_run_overs_before(const std::string& timestamp);
    void produce_run_overs();
    bool is_held(const std::string& id) const;
    std::int64_t missing() const;

    Reading reading_ = Reading::none;
    bool wanted_ = false;        ///< another reading
    bool resting_ = false;       ///< until then
    bool compare_ = true;        ///< the next reading begins with the log's count
    bool was_compared_ = false;  ///< a reading that did so has come to its end
    std::string cursor_;         ///< the page that is being read
    std::int64_t began_at_ = 0;  ///< so many events stood before the first one that this reading shows
    std::chrono::milliseconds took_{0};
    std::optional<std::int64_t> counted_;
    bool rewound_ = false;     ///< the reading began at the log's first event
    std::int64_t sought_ = 0;  ///< so many that it counts were missing then
    std::uint64_t readings_ = 0;
    RecentIds recent_;
    /// What the socket told and no reading has found, with the number of readings that had begun.
    std::map<std::string, std::uint64_t> told_;
    /// A status that ends a run and what stands behind it, read forward and not produced yet.
    std::vector<agent::RemoteEvent> held_;
    std::size_t held_bytes_ = 0;
    int rounds_ = 0;                        ///< readings in a row that held it
    std::string back_from_;                 ///< reading back passes over what is newer; "": it has
    std::int64_t newer_ = 0;                ///< so many it has passed over
    std::vector<agent::RemoteEvent> late_;  ///< found by reading back, newest first
    /// Found there behind what was remembered so far.
    std::vector<agent::RemoteEvent> unknown_;
    std::size_t walked_back_ = 0;  ///< over so many that are remembered
    struct RunOver {
        agent::RemoteEvent snapshot;
        std::uint64_t after = 0;  ///< readings that had begun when it came
    };
    std::deque<RunOver> run_overs_;
    bool snapshot_seen_ = false;  ///< of this connection
};

}  // namespace epilogue::relay
