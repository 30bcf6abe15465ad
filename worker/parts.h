// The parts of one worker, and how they are put together: once, for the process (worker.cpp) and for the
// simulation (tests/sim/host.cpp). What differs between the two comes in as ports, rules and observers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "worker/agents/reconciler.h"
#include "worker/agents/summarisers.h"
#include "worker/apply/adoption.h"
#include "worker/apply/batch.h"
#include "worker/apply/planner.h"
#include "worker/consume/consumer_log.h"
#include "worker/consume/loop.h"
#include "worker/consume/poller.h"
#include "worker/deliver/outbox.h"
#include "worker/deliver/sender.h"
#include "worker/deliver/sender_clock.h"

namespace epilogue {

/// The world outside the parts. Each outlives them.
struct PartsPorts {
    Store& loop_store;  ///< the loops' alone: what posts wait for never holds them up
    Store& post_store;
    Consumer& consumer;
    const SinksInUse& sinks;
    Transport transport;  ///< makes the sinks' requests
    FinalMessageSource& final_messages;
    AgentLogSource agent_logs;  ///< empty when the reconciler is never started
};

/// What each part goes by.
struct PartsRules {
    std::string installation_id;
    SummaryRules summary;
    AskRules asking;
    BatchRules batch;
    AdoptionRules adoption;
    SenderRules sender;
    SenderClock sender_clock;
    int senders = 1;
    SummariserRules summariser;
    int summarisers = 1;
    QueueLimits queue_limits;
    QueueClock queue_clock;
    PollerRules poller;
    OffsetReset start = OffsetReset::earliest;
    LoopRules loop;
    int appliers = 1;  ///< loops
    ReconcileRules reconcile;
};

/// Who is told of what the parts do. Every function may be called from any of their threads.
struct PartsObserver {
    SenderObserver sender = {};
    /// A summary was frozen: its source, and the kind of the agent server's reply.
    std::function<void(const std::string& source, std::string_view result)> summary_froze = [](auto&&, auto) {
    };
    /// A request to an agent server is over.
    std::function<void(ReconcileReason why, std::string_view result)> reconciled = [](auto, auto) {};
    std::function<void()> adopted = [] {};  ///< one callback row
    /// A record was put into dead_letters.
    std::function<void(const DeadLetterRow&)> dead_letter = [](auto&&) {};
    /// A part's step on the database failed, or works again (an empty text).
    std::function<void(const std::string& part, const std::string& why)> trouble = [](auto&&, auto&&) {};
};

/// One of the loops, and the batches that are its own.
struct Applier {
    Applier(Store& store, const Planner& planner, BatchRules batches, LoopSource source,
            LoopFollowUps follow_ups, Telemetry telemetry, LoopRules rules)
        : batch(store, planner, batches),
          loop(source, {store, batch}, std::move(follow_ups), telemetry, std::move(rules)) {}

    Batch batch;
    Loop loop;
};

/// Members are built top down and destroyed bottom up. None of them has threads of its own before it is
/// started.
struct Parts {
    Parts(const PartsPorts& ports, PartsRules rules, const PartsObserver& observer, Telemetry telemetry);

    Planner planner;
    Sender sender;
    Outbox outbox;
    Summariser summariser;
    Summarisers summarisers;
    PartitionQueues queues;
    Poller poller;
    ConsumerLog log;
    PartitionTroubles troubles;
    std::deque<Applier> appliers;
    Reconciler reconciler;
    Adopter adopter;
};

}  // namespace epilogue
