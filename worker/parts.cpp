#include "worker/parts.h"

#include <utility>

#include "worker/consume/dispatch_report.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {
namespace {

/// A frozen summary releases its turn's deliveries, which are due now.
SummariserObserver summaries_to(Outbox& outbox, const PartsObserver& observer) {
    return {.froze = observer.summary_froze, .released = [&outbox](const DeliveryRow& row) {
                outbox.add({row.id, row.sink});
            }};
}

/// What an agent server told has consequences as a batch of the topic has.
ReconcileObserver reports_to(Outbox& outbox, Summarisers& summarisers, const PartsObserver& observer,
                             Metrics& metrics) {
    return {.over = observer.reconciled, .applied = [&](const BatchReport& report) {
                dispatch_report(report, metrics, outbox);
                for (const TurnId& turn : report.owed) summarisers.add(turn);
            }};
}

std::function<void(const std::string&)> trouble_of(const std::string& part, const PartsObserver& observer) {
    return [part, trouble = observer.trouble](const std::string& why) { trouble(part, why); };
}

}  // namespace

Parts::Parts(const PartsPorts& ports, PartsRules rules, const PartsObserver& observer, Telemetry telemetry)
    : planner(rules.installation_id, rules.summary, rules.asking),
      sender(ports.post_store, ports.sinks, ports.transport, rules.sender, observer.sender,
             rules.sender_clock),
      outbox(ports.post_store, sender, rules.senders, trouble_of("senders", observer)),
      summariser(ports.post_store, ports.final_messages, rules.summariser, summaries_to(outbox, observer)),
      summarisers(ports.post_store, ports.final_messages, summariser, rules.summarisers,
                  trouble_of("summarisers", observer)),
      queues(rules.queue_limits, rules.queue_clock),
      poller(ports.consumer, queues, telemetry, std::move(rules.poller)),
      log(ports.consumer, rules.start),
      reconciler(ports.post_store, planner, ports.agent_logs, std::move(rules.reconcile),
                 reports_to(outbox, summarisers, observer, telemetry.metrics)),
      adopter(ports.post_store, planner, rules.adoption, observer.adopted) {
    const LoopFollowUps follow_ups{.outbox = outbox,
                                   .summary_owed = [this](const TurnId& turn) { summarisers.add(turn); },
                                   .dead_letter = observer.dead_letter};
    for (int i = 0; i < rules.appliers; ++i)
        appliers.emplace_back(ports.loop_store, planner, rules.batch, LoopSource{queues, log, troubles},
                              follow_ups, telemetry, rules.loop);
}

}  // namespace epilogue
