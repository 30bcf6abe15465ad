// What the poll thread and the loops share: one queue of records for each assigned partition. One class, one
// mutex.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <variant>
#include <vector>

#include "base/io/consumer.h"
#include "worker/apply/batch.h"

namespace epilogue {

using SteadyTime = std::chrono::steady_clock::time_point;

/// One assignment of a partition to this worker. A later assignment of the same partition has another epoch:
/// results of work that was begun in an earlier one are ignored.
struct AssignmentId {
    int partition = 0;
    std::uint64_t epoch = 0;
    auto operator<=>(const AssignmentId&) const = default;
};

// What a loop finds to do.

/// The partition has no claim yet, or lost it.
struct NeedsClaim {
    AssignmentId assignment;
    bool was_fenced = false;  ///< the worker must prove its membership of the group first
};
/// Records that become one transaction.
struct BatchReady {
    AssignmentId assignment;
    Claim claim;
    std::vector<Record> records;
};
/// A timer may be due, or the heartbeat is.
struct TimersDue {
    AssignmentId assignment;
    Claim claim;
    bool queue_is_empty = false;  ///< the partition may be caught up
    bool heartbeat = false;  ///< no timer is due: the row is written so that others see that its owner lives
    std::optional<NextOffset> end_seen;  ///< the log's end, as the client last saw it
};
/// The broker must be asked whether the log is still the same one.
struct VerifyLogDue {
    AssignmentId assignment;
    Claim claim;
};
using PartitionWork = std::variant<std::monostate, NeedsClaim, BatchReady, TimersDue, VerifyLogDue>;

struct QueueLimits {
    std::size_t batch_records = 5000;
    std::size_t batch_bytes = 8388608;
    std::chrono::milliseconds batch_wait{50};  ///< how long a batch may grow while records keep coming
};

/// The machine's clocks; injected, so that the simulation can replace them.
struct QueueClock {
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
    /// Only decides when it is worth asking the broker and the database; never what is done.
    std::function<Instant()> wall = system_now;
};

/// Thread-safe.
class PartitionQueues {
  public:
    explicit PartitionQueues(QueueLimits limits, QueueClock clock = {})
        : limits_(limits), clock_(std::move(clock)) {}

    // --- the poll thread ---

    /// Begins an assignment of each partition: an empty queue that needs a claim.
    void assign(const std::vector<int>& partitions);
    /// Ends the assignments of these partitions and drops their records. Returns the stored positions of
    /// those that had a claim; the caller may commit them one last time.
    std::map<int, NextOffset> revoke(const std::vector<int>& partitions);
    /// What the caller does after a push.
    enum class After { keep_reading, pause };
    /// Queues a record. A record of a partition that has no claim, or that was queued before, is dropped.
    /// Returns After::pause once when the queue has become full: the caller pauses the partition.
    After push(Record record);
    /// The client has read to the end of a partition; ignored while the partition has no claim.
    void on_partition_eof(const EndOfPartition& end);
    /// The paused partitions whose queues have room again; the caller resumes them. Each is returned once.
    std::vector<int> partitions_to_resume();

    // --- the loops ---

    /// The next thing to do; waits for it at most `wait`. std::monostate: there is nothing. Until it is
    /// released no other call returns work of the same partition, also when that is assigned anew meanwhile:
    /// what is still to be done to the log for the assignment before would be done to the new one's.
    PartitionWork next(std::chrono::milliseconds wait, const std::stop_token& stop);
    /// The work that next() returned is over, with all that follows from it.
    void release(const PartitionWork& work);
    /// The claim was made: from now on records from its position on are queued. False when the assignment is
    /// over; then nothing has changed.
    bool start(const AssignmentId& assignment, Claim claim);
    /// Work on the partition has ended, with the claim as it is now.
    void done(const AssignmentId& assignment, Claim claim);
    /// Puts the records of a batch back to the front of the queue, and gives the partition no work until
    /// `pause` has passed.
    void requeue(const AssignmentId& assignment, std::vector<Record> records,
                 std::chrono::milliseconds pause);
    /// Gives the partition no work until `pause` has passed.
    void back_off(const AssignmentId& assignment, std::chrono::milliseconds pause);
    /// The claim is lost to another worker: everything in memory is dropped, and the partition needs a claim,
    /// with proof of membership, after `pause`.
    void fence(const AssignmentId& assignment, std::chrono::milliseconds pause);
    /// Drops everything in memory; the partition needs a claim at once.
    void reclaim(const AssignmentId& assignment);
    /// Calls `commit` with the stored positions of the assigned partitions that moved since the last call,
    /// every five seconds with those of all; not at all when there are none. It holds the lock that revoke()
    /// takes, so that nothing of a revoked partition is committed; `commit` must not wait.
    void with_committable_offsets(const std::function<void(const std::map<int, NextOffset>&)>& commit);

    /// The stored position of each partition that has a claim, for metrics.
    std::map<int, NextOffset> positions() const;

  private:
    struct PartitionQueue {
        std::uint64_t epoch = 0;
        bool was_fenced = false;
        bool paused = false;  ///< the queue was full, and the poll thread was told to pause the partition
        std::deque<Record> records;
        std::size_t bytes = 0;  ///< of the records
        std::optional<Offset> last_read;
        std::optional<NextOffset> end_seen;
        std::optional<NextOffset> committed;
        std::optional<Claim> claim;
        SteadyTime not_before{};        ///< no work until then
        SteadyTime timer_not_before{};  ///< no timer work until then
        SteadyTime row_written{};       ///< when the partition's row was last written
        SteadyTime log_verified{};      ///< when the loop was last told to verify the log
    };

    PartitionQueue* find(const AssignmentId& assignment);
    static void reset(PartitionQueue& queue);
    bool grow(std::unique_lock<std::mutex>& lock, const AssignmentId& assignment, SteadyTime until);
    std::size_t resume_below() const;
    std::optional<PartitionWork> work_locked(SteadyTime now);
    std::optional<PartitionWork> work_of(int partition, PartitionQueue& queue, SteadyTime now);
    std::vector<Record> take_batch(PartitionQueue& queue) const;
    bool timer_is_near(const PartitionQueue& queue, SteadyTime now) const;

    const QueueLimits limits_;
    const QueueClock clock_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;  ///< there may be work for one loop more
    std::condition_variable grows_;        ///< never notified: a batch that grows is looked at again
    std::map<int, PartitionQueue> queues_;
    std::set<int> in_hand_;  ///< partitions whose work was returned and is not released
    std::uint64_t next_epoch_ = 1;
    int last_served_ = -1;  ///< partitions take turns
    SteadyTime all_committed_{};
};

}  // namespace epilogue
