// What the poll thread and the loop share: one lane for each assigned partition. One class, one mutex.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "base/io/kafka.h"
#include "worker/apply/batch.h"

namespace epilogue {

using SteadyTime = std::chrono::steady_clock::time_point;

/// One stay of a partition with this worker. A later stay has another epoch: what was begun in an earlier one
/// is void.
struct LaneId {
    int partition = 0;
    std::uint64_t epoch = 0;
    auto operator<=>(const LaneId&) const = default;
};

// What the loop finds to do.
struct ClaimWanted {
    LaneId lane;
    bool was_fenced = false;  ///< membership has to be proven first
};
struct RecordsReady {
    LaneId lane;
    Claim claim;
    std::vector<Record> records;
};
struct TimerNear {
    LaneId lane;
    Claim claim;
    bool drained = false;    ///< nothing is queued: the partition may be caught up
    bool heartbeat = false;  ///< nothing is due; the row is touched so that its owner is seen to be there
    std::optional<NextOffset> end_seen;  ///< where the client last saw the end
};
/// The lane's log has to be looked at: is it still the same one?
struct LookDue {
    LaneId lane;
    Claim claim;
};
using LaneWork = std::variant<std::monostate, ClaimWanted, RecordsReady, TimerNear, LookDue>;

struct LaneLimits {
    std::size_t batch_records = 5000;
    std::size_t batch_bytes = 8388608;
    std::chrono::milliseconds batch_wait{50};  ///< while records keep coming
};

/// The machine's clocks; injected, so that a simulation can own them.
struct LaneClock {
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
    /// Only decides when it is worth asking the broker and the database; never what is done.
    std::function<Instant()> wall = system_now;
};

/// Thread-safe.
class Lanes {
  public:
    explicit Lanes(LaneLimits limits, LaneClock clock = {}) : limits_(limits), clock_(std::move(clock)) {}

    // --- the poll thread ---
    void open(const std::vector<int>& partitions);
    /// Drops everything of these partitions; returns the stored positions, which may be committed one last
    /// time.
    std::map<int, NextOffset> close(const std::vector<int>& partitions);
    enum class Room { enough, full };
    /// Queues a record; one of a lane that is not reading, or that was queued before, is dropped.
    Room push(Record record);
    /// The client came to the end; of a lane that is not reading it is dropped.
    void saw_end(const EndOfPartition& end);
    /// Lanes whose queue has room again: to be resumed.
    std::vector<int> take_refilled();

    // --- the loop ---
    /// The next thing to do; waits at most `wait`.
    LaneWork next(std::chrono::milliseconds wait, const std::stop_token& stop);
    /// The claim holds: the lane reads from its position on. False when the lane's stay is over.
    bool start(const LaneId& lane, Claim claim);
    /// A batch or a timer step is durable.
    void done(const LaneId& lane, Claim claim);
    /// Puts a batch back and leaves the lane alone until `pause` has passed.
    void put_back(const LaneId& lane, std::vector<Record> records, std::chrono::milliseconds pause);
    /// Nothing may be done with the lane until `pause` has passed.
    void rest(const LaneId& lane, std::chrono::milliseconds pause);
    /// The claim is lost: everything is dropped, to be claimed again after `pause`.
    void fence(const LaneId& lane, std::chrono::milliseconds pause);
    /// The log is another one: everything is dropped, to be claimed again at once.
    void claim_again(const LaneId& lane);
    /// Calls `commit` with the stored positions (those that moved since the last call, or all) of lanes that
    /// still stay here, under the lock that close() takes: once revoked, nothing of a partition is committed.
    void commit_with(bool all, const std::function<void(const std::map<int, NextOffset>&)>& commit);

    /// partition -> stored position, for metrics.
    std::map<int, NextOffset> positions() const;

  private:
    enum class State { unclaimed, claiming, reading, working };
    struct Lane {
        std::uint64_t epoch = 0;
        State state = State::unclaimed;
        bool was_fenced = false;
        bool paused = false;  ///< full: the client was told to stop fetching
        std::deque<Record> queue;
        std::size_t bytes = 0;
        std::optional<Offset> last_read;
        std::optional<NextOffset> end_seen;
        std::optional<NextOffset> committed;
        std::optional<Claim> claim;
        SteadyTime not_before{};
        SteadyTime timer_not_before{};
        SteadyTime touched{};  ///< when its row was last written
        SteadyTime looked{};   ///< when its log was last looked at

        bool reads() const { return state == State::reading || state == State::working; }
    };

    Lane* find(const LaneId& id);
    static void drop_claim(Lane& lane);
    std::size_t refill_below() const;
    std::optional<LaneWork> work_locked(SteadyTime now);
    std::vector<Record> take_batch(Lane& lane) const;
    bool timer_is_near(const Lane& lane, SteadyTime now) const;

    const LaneLimits limits_;
    const LaneClock clock_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<int, Lane> lanes_;
    std::uint64_t next_epoch_ = 1;
    int last_served_ = -1;  ///< partitions take turns
};

}  // namespace epilogue
