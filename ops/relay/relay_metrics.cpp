#include "ops/relay/relay_metrics.h"

#include <prometheus/text_serializer.h>

#include "base/version.h"
#include "worker/observe/families.h"
#include "worker/observe/process_metrics.h"

namespace epilogue {
namespace {

using prometheus::Gauge;
using prometheus::Registry;

/// The one gauge of a family without labels.
Gauge& one_gauge(Registry& registry, const char* name, const char* help) {
    return gauge(registry, name, help).Add({});
}

}  // namespace

struct RelayMetrics::Families {
    Registry registry;
    CounterFamily& events = counter(registry, "epilogue_relay_events_total",
                                    "Events that came by a door, by what became of them");
    CounterFamily& trimmed =
        counter(registry, "epilogue_relay_trimmed_total", "Events that were trimmed to the topic's limit");
    CounterFamily& requests =
        counter(registry, "epilogue_relay_requests_total", "HTTP requests that were answered, by status");
    CounterFamily& gaps = counter(registry, "epilogue_relay_gaps_total",
                                  "Events of agent servers' logs that had not come, by what became of them, "
                                  "since this process started; what another one was told counts as not come");
    Gauge& followed =
        one_gauge(registry, "epilogue_relay_followed", "Conversations whose log this relay follows");
    GaugeFamily& behind = gauge(registry, "epilogue_relay_behind",
                                "Events that agent servers have told of or are known to have, and the topic "
                                "has not, by door");
    GaugeFamily& behind_seconds = gauge(registry, "epilogue_relay_behind_seconds",
                                        "For how long the one of them has been known that has waited the "
                                        "longest, by door; 0: none waits");
    Gauge& bytes = one_gauge(registry, "epilogue_relay_bytes_under_way",
                             "Bytes of the events that Kafka has not acknowledged yet");
    Gauge& oldest = one_gauge(registry, "epilogue_relay_oldest_unacknowledged_seconds",
                              "For how long the oldest of them has been under way; 0: there is none");
    Gauge& ready = one_gauge(registry, "epilogue_ready", "1 when /readyz answers 200");
    GaugeFamily& build = gauge(registry, "epilogue_build_info", "Always 1; the version is a label");
};

RelayMetrics::RelayMetrics() : families_(std::make_unique<Families>()) {
    families_->build.Add({{"version", version}}).Set(1);
    for (const auto door : {relay::Door::webhook, relay::Door::follower, relay::Door::app_server})
        for (const auto outcome : relay::outcome_names.names)
            families_->events.Add(
                {{"door", std::string(relay::door_names.of(door))}, {"outcome", std::string(outcome)}});
    set_behind(relay::Door::follower, {});
    for (const char* result : {"found", "filled", "lost"}) families_->gaps.Add({{"result", result}});
}
RelayMetrics::~RelayMetrics() = default;

relay::DoorObserver RelayMetrics::observer() {
    relay::DoorObserver observer;
    observer.events = [this](relay::Door door, relay::Outcome outcome, std::size_t events) {
        families_->events
            .Add({{"door", std::string(relay::door_names.of(door))},
                  {"outcome", std::string(relay::outcome_names.of(outcome))}})
            .Increment(static_cast<double>(events));
    };
    observer.trimmed = [this](relay::Door door) {
        families_->trimmed.Add({{"door", std::string(relay::door_names.of(door))}}).Increment();
    };
    return observer;
}

relay::FollowObserver RelayMetrics::follow_observer() {
    relay::FollowObserver observer;
    observer.gap = [this](const relay::GapSeen& gap) { missing(gap); };
    observer.state = [this](const relay::FollowState& state) {
        families_->followed.Set(static_cast<double>(state.followed));
        set_behind(relay::Door::follower, {state.behind, state.lag});
    };
    return observer;
}

void RelayMetrics::set_behind(relay::Door door, const DoorBehind& behind) {
    const prometheus::Labels labels{{"door", std::string(relay::door_names.of(door))}};
    families_->behind.Add(labels).Set(static_cast<double>(behind.events));
    families_->behind_seconds.Add(labels).Set(behind.longest.count());
}

void RelayMetrics::missing(const relay::GapSeen& gap) {
    families_->gaps.Add({{"result", "found"}}).Increment(static_cast<double>(gap.found));
    families_->gaps.Add({{"result", "filled"}}).Increment(static_cast<double>(gap.filled));
    families_->gaps.Add({{"result", "lost"}}).Increment(static_cast<double>(gap.lost));
}

void RelayMetrics::answered(unsigned status) {
    families_->requests.Add({{"status", std::to_string(status)}}).Increment();
}

std::string RelayMetrics::text(const RelayGauges& gauges) {
    set_behind(relay::Door::webhook, gauges.webhook_behind);
    set_behind(relay::Door::app_server, gauges.app_server_behind);
    families_->bytes.Set(static_cast<double>(gauges.bytes_under_way));
    families_->oldest.Set(gauges.oldest_under_way.count());
    families_->ready.Set(gauges.is_ready ? 1 : 0);
    auto families = families_->registry.Collect();
    for (prometheus::MetricFamily& family : process_metrics()) families.push_back(std::move(family));
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace epilogue
