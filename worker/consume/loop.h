// THE loop of the worker, one thread: takes the next work of a partition (claim, batch, timers, check of the
// log), does it in one transaction, hands the posts that follow from it to the senders, and commits the
// offsets.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>

#include "worker/apply/batch.h"
#include "worker/consume/claim_partition.h"
#include "worker/consume/partition_log.h"
#include "worker/consume/partition_queues.h"
#include "worker/deliver/outbox.h"
#include "worker/observe/telemetry.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// What the loop reads: the queues that the poll thread fills, and the log behind them.
struct LoopSource {
    PartitionQueues& queues;
    PartitionLog& log;
};

/// What the loop writes: transactions. Its own database session; no other thread uses it.
struct LoopTarget {
    Store& store;
    Batch& batch;
};

/// What follows from a durable transaction; called on the loop's thread.
struct LoopFollowUps {
    Outbox& outbox;                                         ///< of the senders; takes the new posts
    std::function<void(const TurnId&)> summary_owed;        ///< an agent server is to be asked about the turn
    std::function<void(const DeadLetterRow&)> dead_letter;  ///< the record was put into dead_letters
};

struct LoopRules {
    std::string group;
    std::string topic;
    std::string owner;
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
    std::function<double()> random01;  ///< jitter; thread-safe
};

class Loop {
  public:
    Loop(LoopSource source, LoopTarget target, LoopFollowUps follow_ups, Telemetry telemetry, LoopRules rules)
        : source_(source),
          target_(target),
          follow_ups_(std::move(follow_ups)),
          telemetry_(telemetry),
          rules_(std::move(rules)),
          last_turn_(rules_.steady()) {}

    /// Turns until `stop`; a transaction that was begun is finished.
    void run(const std::stop_token& stop);
    /// Does the next work, if there is any within `wait`, then commits offsets.
    void turn(std::chrono::milliseconds wait, const std::stop_token& stop);
    /// False when it has not begun a turn for 60 s, for /healthz. Thread-safe, as `steady` has to be.
    bool is_turning() const;

  private:
    void on(std::monostate) {}
    void on(NeedsClaim& unclaimed);
    void on(BatchReady& batch);
    void on(TimersDue& timers);
    void on(VerifyLogDue& due);

    Result<Claimed> claim(const NeedsClaim& unclaimed);
    /// True when the partition's log has seemed too short for so long that it is taken for another log.
    bool is_short_for_long(int partition);
    void report(int partition, const PositionCheck& check);
    /// Up to when timers may fire.
    struct Clock {
        Instant at;
        std::optional<NextOffset> caught_up;  ///< the log's end, when everything before it was applied
    };
    /// nullopt: no timer may fire, because the partition is not caught up, or no timer is due.
    Result<std::optional<Clock>> clock_of(const TimersDue& timers);
    void report(const BatchReport& report);
    void on_fenced(const AssignmentId& assignment);
    void works_again(const AssignmentId& assignment);
    std::chrono::milliseconds backoff_after(const AssignmentId& assignment, const Error& error);
    void commit_offsets();

    const LoopSource source_;
    const LoopTarget target_;
    const LoopFollowUps follow_ups_;
    const Telemetry telemetry_;
    const LoopRules rules_;
    std::map<int, int> failures_;  ///< how many in a row, by partition
    /// A log that ends before the stored position: when that was seen first and last.
    struct ShortLogDoubt {
        SteadyTime since;
        SteadyTime last;
    };
    /// No log is verified until then: no broker answered, and records in memory must not wait for it.
    SteadyTime verify_not_before_{};
    std::map<int, ShortLogDoubt> short_logs_;  ///< by partition
    std::set<int> owned_elsewhere_;  ///< partitions already counted as owned by another group or cluster
    std::chrono::steady_clock::time_point committed_all_at_{};
    std::atomic<SteadyTime> last_turn_;
};

}  // namespace epilogue
