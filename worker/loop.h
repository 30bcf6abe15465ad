// THE loop: takes what a lane has to do (claim, records, timers), makes it one transaction, then lets the
// offset follow and hands what is owed to the senders. One thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "worker/batch.h"
#include "worker/lanes.h"
#include "worker/metrics.h"
#include "worker/outbox.h"
#include "worker/readiness.h"

namespace epilogue {

/// The log, as the loop needs it.
class Log {
  public:
    Log() = default;
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    virtual ~Log() = default;

    virtual std::string cluster_id() = 0;
    /// Where a partition that was never claimed starts.
    virtual Result<NextOffset> first_position(int partition) = 0;
    /// Reads on from `position`; the partition is assigned.
    virtual Result<void> read_from(int partition, NextOffset position) = 0;
    virtual void stop_reading(int partition) = 0;
    /// Asked of the broker now.
    virtual Result<Watermarks> watermarks(int partition) = 0;
    /// Lets the committed offsets follow; does not wait.
    virtual void commit(const std::map<int, NextOffset>& positions) = 0;
    /// Waits for the broker's answer: proof of membership in the group's present generation.
    virtual Result<void> commit_and_wait(int partition, NextOffset position) = 0;
};

struct LoopRules {
    std::string group;
    std::string topic;
    std::string owner;
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
    std::function<double()> random01;  ///< jitter; thread-safe
    std::function<void(const DeadLetterRow&)> dead_letter = [](const auto&) {
    };  ///< told of each, when it is durable
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

    Result<Claim> claim(const ClaimWanted& wanted);
    /// The clock that a timer step may let the partition come to; nullopt when it is not caught up.
    Result<std::optional<Instant>> clock_of(const TimerNear& timer);
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
    std::chrono::steady_clock::time_point committed_all_at_{};
    std::atomic<std::chrono::steady_clock::time_point> last_turn_{std::chrono::steady_clock::now()};
};

}  // namespace epilogue
