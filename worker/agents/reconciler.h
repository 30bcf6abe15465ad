// Tells conversations what the topic did not tell, from the agent server's own log: for a callback that was
// registered when its conversation's events were gone, before an inactive turn counts as timed out, and when
// records were gone before they were read (gap_survey.h lists whose). Any
// worker does it; each conversation is leased in catch_ups (base/leased_queue.h).
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/io/log.h"
#include "base/leased_queue.h"
#include "worker/agents/agent_log.h"
#include "worker/agents/gap_survey.h"
#include "worker/apply/batch.h"
#include "worker/core/callback.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {

/// How many of its threads may ask servers, and the database, at the same time.
inline constexpr int reconciler_threads = 8;

struct ReconcileRules {
    std::string group;
    std::string topic;
    std::string owner;  ///< this worker's name, as the lease spells it
    BatchRules batch;
    std::chrono::seconds patience{86400};  ///< a late registration is asked about for so long
};

/// What it tells its observer. Both functions may be called from any of its threads.
struct ReconcileObserver {
    /// One request is over: `result` is ended, alive, silent, told (by the topic, meanwhile), too_late, or
    /// why the log could not be read (name_of(Hindrance)).
    std::function<void(ReconcileReason why, std::string_view result)> over = [](auto, auto) {};
    /// What it changed, once that is durable.
    std::function<void(const BatchReport&)> applied = [](const auto&) {};
};

/// Thread-safe.
class Reconciler {
  public:
    struct Task {
        ConversationId conversation_id;
        std::optional<Hindrance> hindrance = {};  ///< of the last try
        /// The address of its agent server, with a mark when that could not read it; one name for all that
        /// did not answer; nullopt: not known yet.
        std::optional<std::string> server = {};

        const ConversationId& key() const { return conversation_id; }
        const std::string* group() const { return server ? &*server : nullptr; }
        /// What a server could not read costs it most: one such log at a time.
        std::size_t max_in_group() const {
            return hindrance == Hindrance::failed ? 1 : std::numeric_limits<std::size_t>::max();
        }
    };

    Reconciler(Store& store, const Planner& planner, AgentLogSource logs, ReconcileRules rules,
               ReconcileObserver observer);

    /// Starts the threads, for eight conversations at the same time, at most half of them of one server, and
    /// at most half of servers that did not answer the last time. A simulation does not call it: it calls the
    /// steps below by itself.
    void start();
    /// Gives up what is under way, for other workers to try again at once, and ends the threads. The
    /// destructor does it, too.
    void stop() { queue_.stop(); }

    /// One step: the next conversation; nullopt when there is none. The caller has to work at it.
    std::optional<Task> begin() { return queue_.begin(); }
    /// Asks its agent server, and brings the request to its end or to its next try, unless that server is
    /// asked about enough others: then the task waits for them. Errors: the database's.
    Result<void> work_at(Task task, const std::stop_token& stop);
    /// One step of the sweeper: lists who may lie in a gap, and queues what is due, the next ones at each
    /// step. Errors: the database's.
    Result<void> sweep_once();

  private:
    void complain(const Result<void>& done);
    Result<void> reconcile(const ConversationId& conversation_id, const std::stop_token& stop);
    /// Reads its log; only a short look first, unless its server is known to take long.
    tl::expected<ServerLog, LogReadError> read(const ReconcileRow& taken, const std::stop_token& stop) const;
    /// Leases it; nullopt when there is nothing to ask (any more).
    Result<std::optional<ReconcileRow>> take(const ConversationId& conversation_id);
    Result<void> apply(const ReconcileRow& taken, const ServerLog& log);
    Result<void> put_off(const ReconcileRow& taken, const LogReadError& why, std::chrono::seconds pause);
    /// For any worker to try again after `pause`, as if this had been no try.
    Result<void> hand_back(const ReconcileRow& taken, Micros pause);
    Result<void> give_up(const ReconcileRow& taken, const LogReadError& why);
    /// Changes the conversation and removes its row, unless another worker has the row by now; its callbacks
    /// are `told`. `change` says what came of it.
    Result<void> finish(const ReconcileRow& taken, const CallbackEvent& told,
                        const std::function<Result<std::string_view>(Transition&)>& change);

    Store& store_;
    const Planner& planner_;
    const AgentLogSource logs_;
    const ReconcileRules rules_;
    const ReconcileObserver observer_;
    RateLimitedLog complaints_;
    GapSurvey gaps_;                     ///< the sweeper's
    std::optional<DueReconcile> swept_;  ///< the sweeper's: the last row of a step that did not see all
    LeasedQueue<Task> queue_;
};

}  // namespace epilogue
