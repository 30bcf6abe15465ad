// What the topic did not tell, from the agent server's own log: for a callback that came when its
// conversation's events were gone, and before a silence counts as a timeout. Any worker does it; each
// conversation is leased.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "worker/agents/agent_log.h"
#include "worker/apply/batch.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {

struct ReconcileRules {
    std::string group;
    std::string topic;
    std::string owner;
    BatchRules batch;
    std::function<std::chrono::steady_clock::time_point()> steady = [] {
        return std::chrono::steady_clock::now();
    };
};

/// What it tells those who watch it.
struct ReconcileObserver {
    /// One for each that is over: `result` is ended, alive, silent, told (by the topic, meanwhile), too_late,
    /// or why the log could not be read.
    std::function<void(ReconcileReason why, std::string_view result)> over = [](auto, auto) {};
    /// What it changed, once that is durable.
    std::function<void(const BatchReport&)> applied = [](const auto&) {};
};

/// Thread-safe.
class Reconciler {
  public:
    Reconciler(Store& store, const Planner& planner, ReadLog read_log, ReconcileRules rules,
               ReconcileObserver observer)
        : store_(store),
          planner_(planner),
          read_log_(std::move(read_log)),
          rules_(std::move(rules)),
          observer_(std::move(observer)) {}

    /// Catches up until `stop`, four conversations at the same time.
    void run(const std::stop_token& stop);
    /// Takes one that is due and brings it to its end, or to its next try. False when none is due. Errors:
    /// the database's.
    Result<bool> work_once(const std::stop_token& stop);

  private:
    void work(const std::stop_token& stop);
    Result<std::optional<std::string>> next_due();
    /// Reads what is due once there is nothing left of what was found; one thread at a time, once a second.
    Result<void> look();
    /// Leases it; nullopt when there is nothing to ask (any more).
    Result<std::optional<ReconcileRow>> take(const std::string& conversation_id);
    Result<void> apply(const ReconcileRow& taken, const ServerLog& log);
    Result<void> put_off(const ReconcileRow& taken, bool right_away);
    Result<void> give_up(const ReconcileRow& taken, const LogReadError& why);
    /// Changes the conversation and removes its row, unless somebody else has the row by now. `change` says
    /// what came of it; nothing, when it is to be asked once more.
    Result<void> finish(const ReconcileRow& taken,
                        const std::function<Result<std::string_view>(Transition&)>& change);

    Store& store_;
    const Planner& planner_;
    const ReadLog read_log_;
    const ReconcileRules rules_;
    const ReconcileObserver observer_;
    std::mutex mutex_;
    std::deque<std::string> found_;  ///< due when they were looked for
    std::chrono::steady_clock::time_point look_not_before_{};
};

}  // namespace epilogue
