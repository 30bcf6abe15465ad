// THE loop of the worker: takes the next work of a partition (claim, batch, timers, check of the log), does
// it in one transaction, hands the posts that follow from it to the senders, and commits the offsets. A
// worker runs several of them, each on a thread of its own; a partition's work is always done by one of them.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "worker/apply/batch.h"
#include "worker/consume/claim_partition.h"
#include "worker/consume/partition_log.h"
#include "worker/consume/partition_queues.h"
#include "worker/consume/partition_troubles.h"
#include "worker/deliver/outbox.h"
#include "worker/observe/telemetry.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// What the loops read: the queues that the poll thread fills, the log behind them, and what is remembered of
/// both. All loops share them.
struct LoopSource {
    PartitionQueues& queues;
    PartitionLog& log;
    PartitionTroubles& troubles;
};

/// What one loop writes: transactions. The batch is the loop's own; the store has a session for each loop.
struct LoopTarget {
    Store& store;
    Batch& batch;
};

/// What follows from a durable transaction; called on the loops' threads.
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
    std::atomic<SteadyTime> last_turn_;
};

}  // namespace epilogue
