// Tells conversations what the topic did not tell, from the agent server's own log: for a callback that was
// registered when its conversation's events were gone, before an inactive turn counts as timed out, and when
// records were gone before they were read (gap_survey.h lists whose). Any
// worker does it; each conversation is leased in catch_ups (base/leased_queue.h).
#pragma once

#include <functional>
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
#include "worker/store/reconcile_rows.h"

namespace epilogue {

struct ReconcileRules {
    std::string group;
    std::string topic;
    std::string owner;  ///< this worker's name, as the lease spells it
    BatchRules batch;
};

/// What it tells its observer. Both functions may be called from any of its threads.
struct ReconcileObserver {
    /// One request is over: `result` is ended, alive, silent, told (by the topic, meanwhile), too_late, or
    /// why the log could not be read.
    std::function<void(ReconcileReason why, std::string_view result)> over = [](auto, auto) {};
    /// What it changed, once that is durable.
    std::function<void(const BatchReport&)> applied = [](const auto&) {};
};

/// Thread-safe.
class Reconciler {
  public:
    struct Task {
        ConversationId conversation_id;

        const ConversationId& key() const { return conversation_id; }
        static const std::string* group() { return nullptr; }
    };

    Reconciler(Store& store, const Planner& planner, ReadLog read_log, ReconcileRules rules,
               ReconcileObserver observer);

    /// Starts the threads, for four conversations at the same time. A simulation does not call it: it calls
    /// the steps below by itself.
    void start();
    /// Gives up what is under way, for other workers to try again at once, and ends the threads. The
    /// destructor does it, too.
    void stop() { queue_.stop(); }

    /// One step: the next conversation; nullopt when there is none. The caller has to work at it.
    std::optional<Task> begin() { return queue_.begin(); }
    /// Asks its agent server, and brings the request to its end or to its next try. Errors: the database's.
    Result<void> work_at(const Task& task, const std::stop_token& stop);
    /// One step of the sweeper: lists who may lie in a gap, and queues what is due. Errors: the database's.
    Result<void> sweep_once();

  private:
    void complain(const Result<void>& done);
    Result<void> reconcile(const ConversationId& conversation_id, const std::stop_token& stop);
    /// Leases it; nullopt when there is nothing to ask (any more).
    Result<std::optional<ReconcileRow>> take(const ConversationId& conversation_id);
    Result<void> apply(const ReconcileRow& taken, const ServerLog& log);
    Result<void> put_off(const ReconcileRow& taken, bool right_away);
    Result<void> give_up(const ReconcileRow& taken, const LogReadError& why);
    /// Changes the conversation and removes its row, unless another worker has the row by now. `change` says
    /// what came of it; an empty text when the server has to be asked once more.
    Result<void> finish(const ReconcileRow& taken,
                        const std::function<Result<std::string_view>(Transition&)>& change);

    Store& store_;
    const Planner& planner_;
    const ReadLog read_log_;
    const ReconcileRules rules_;
    const ReconcileObserver observer_;
    RateLimitedLog complaints_;
    GapSurvey gaps_;  ///< the sweeper's
    LeasedQueue<Task> queue_;
};

}  // namespace epilogue
