// THE loop: takes what a lane has to do (claim, records, timers), makes it one transaction, then lets the
// offset follow and hands what is owed to the senders. One thread.
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
#include "worker/observe/metrics.h"
#include "worker/observe/readiness.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

struct LoopRules {
    std::string group;
    std::string topic;
    std::string owner;
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
    std::function<double()> random01;  ///< jitter; thread-safe
    std::function<void(const DeadLetterRow&)> dead_letter = [](const auto&) {
    };                                                             ///< told of each, when it is durable
    std::function<void(const TurnId&)> owed = [](const auto&) {};  ///< told of each summary to be asked for
};

class Loop {
  public:
    Loop(Lanes& lanes, Log& log, Store& store, Batch& batch, Outbox& outbox, Metrics& metrics,
         Readiness& readiness, LoopRules rules)
        : lanes_(lanes),
          log_(log),
          store_(store),
          batch_(batch),
          outbox_(outbox),
          metrics_(metrics),
          readiness_(readiness),
          rules_(std::move(rules)) {}

    /// Runs until `stop`. A batch that was begun is finished.
    void run(const std::stop_token& stop);
    /// Does one thing; waits for it at most `wait`.
    void turn(std::chrono::milliseconds wait, const std::stop_token& stop);
    /// When it last turned, for /healthz.
    std::chrono::steady_clock::time_point last_turn() const { return last_turn_.load(); }

  private:
    void on(std::monostate) {}
    void on(ClaimWanted& wanted);
    void on(RecordsReady& ready);
    void on(TimerNear& timer);
    void on(LookDue& look);

    Result<Claimed> claim(const ClaimWanted& wanted);
    /// A log that seems too short is looked at for a while before it is believed to be another one.
    bool has_been_short(int partition);
    void report(int partition, const Bearing& bearing);
    /// The clock that a timer step may let the partition come to.
    struct Clock {
        Instant at;
        std::optional<NextOffset> caught_up;  ///< the log's end, when everything before it was applied
    };
    /// nullopt when the partition is not caught up.
    Result<std::optional<Clock>> clock_of(const TimerNear& timer);
    void report(const BatchReport& report);
    std::chrono::milliseconds failed(const LaneId& lane, const Error& error);
    void let_offsets_follow();

    Lanes& lanes_;
    Log& log_;
    Store& store_;
    Batch& batch_;
    Outbox& outbox_;
    Metrics& metrics_;
    Readiness& readiness_;
    const LoopRules rules_;
    std::map<int, int> failures_;  ///< in a row, by partition
    struct Doubt {
        SteadyTime since;
        SteadyTime last;
    };
    SteadyTime look_not_before_{};  ///< no broker answered: the records that are here come first
    std::map<int, Doubt> doubts_;   ///< by partition: its log seems too short
    std::set<int> held_by_others_;  ///< partitions that another group or cluster holds, as it was told
    std::chrono::steady_clock::time_point committed_all_at_{};
    std::atomic<std::chrono::steady_clock::time_point> last_turn_{std::chrono::steady_clock::now()};
};

}  // namespace epilogue
