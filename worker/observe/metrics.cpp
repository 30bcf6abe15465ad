#include "worker/observe/metrics.h"

#include <algorithm>
#include <utility>

#include <prometheus/text_serializer.h>

#include "base/version.h"
#include "worker/observe/families.h"
#include "worker/observe/process_metrics.h"

namespace epilogue {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

/// Gauges that are shown together, each with its labels, in place of those that were shown before.
class ShownGauges {
  public:
    void set(Family<Gauge>& family, const std::map<std::string, std::string>& labels, double value) {
        Gauge& gauge = family.Add(labels);
        gauge.Set(value);
        shown_.emplace_back(&family, &gauge);
    }
    /// Those that are not among `next` are no longer shown.
    void replace_with(ShownGauges next) {
        for (const auto& one : std::exchange(shown_, std::move(next.shown_)))
            if (std::ranges::find(shown_, one) == shown_.end()) one.first->Remove(one.second);
    }

  private:
    std::vector<std::pair<Family<Gauge>*, Gauge*>> shown_;
};

const Histogram::BucketBoundaries fast{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};
const Histogram::BucketBoundaries slow{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,  1,
                                       2.5,   5,    10,    30,   60,  300,  1800, 7200};

}  // namespace

struct Metrics::Families {
    Registry registry;
    Family<Counter>& events =
        counter(registry, "epilogue_events_total", "Kafka records consumed, by what became of them");
    Family<Counter>& transitions =
        counter(registry, "epilogue_transitions_total", "Turns that ended, by verdict");
    Family<Counter>& deliveries =
        counter(registry, "epilogue_deliveries_total", "Deliveries, by each state they entered");
    Family<Counter>& attempts =
        counter(registry, "epilogue_attempts_total", "Requests that post, by the class of the answer");
    Family<Histogram>& visible =
        histogram(registry, "epilogue_transition_to_visible_seconds",
                  "From the transaction that counted a turn to its post being known to be visible");
    Family<Histogram>& visible_after_event =
        histogram(registry, "epilogue_event_to_visible_seconds",
                  "From the record that ended a turn to its post being known to be visible");
    Family<Histogram>& called =
        histogram(registry, "epilogue_request_seconds", "Time that a call of a sink took, by kind");
    Family<Gauge>& oldest =
        gauge(registry, "epilogue_oldest_undelivered_seconds",
              "Age of each sink's oldest delivery that is not final; 0: there is none (pool-wide)");
    Family<Gauge>& undelivered = gauge(registry, "epilogue_undelivered",
                                       "Deliveries that are not final, by sink and state (pool-wide)");
    ShownGauges undelivered_kinds;
    Family<Gauge>& gap_callbacks =
        gauge(registry, "epilogue_gap_callbacks_remaining",
              "Callbacks whose conversation may lie in a gap of the log, not answered yet (pool-wide)");
    Family<Gauge>& catch_ups_hindered =
        gauge(registry, "epilogue_catch_ups_hindered",
              "Conversations whose agent server was asked in vain and is asked again, by what hinders it "
              "(pool-wide)");
    ShownGauges hindrances;
    Family<Gauge>& parked =
        gauge(registry, "epilogue_parked", "Parked deliveries, by sink and reason (pool-wide)");
    ShownGauges parked_kinds;
    Family<Gauge>& breakers = gauge(registry, "epilogue_breaker_open",
                                    "1 for each credential whose platform is down for posts or look-ups "
                                    "(pool-wide)");
    ShownGauges open_breakers;
    Gauge& ready = gauge(registry, "epilogue_ready", "1 when /readyz answers 200").Add({});
    Family<Gauge>& lag =
        gauge(registry, "epilogue_consumer_lag", "Records between the stored position and the log's end");
    Family<Gauge>& lag_seconds =
        gauge(registry, "epilogue_consumer_lag_seconds",
              "For how long at most the oldest record that is not applied has been there");
    Histogram& commit =
        histogram(registry, "epilogue_store_commit_seconds", "Time that COMMIT took").Add({}, fast);
    Counter& ambiguous =
        counter(registry, "epilogue_ambiguous_commits_total", "COMMITs whose answer was lost").Add({});
    Family<Counter>& undone = counter(registry, "epilogue_store_undone_total",
                                      "Transactions undone by what may be over the next time, by cause");
    Family<Counter>& retention = counter(registry, "epilogue_retention_removed_total",
                                         "What was removed because [retention] says so, by what it was");
    Family<Counter>& lookups =
        counter(registry, "epilogue_lookups_total", "Look-ups on the platforms, by result");
    Family<Counter>& healed = counter(registry, "epilogue_healed_total", "Twin posts removed");
    Family<Counter>& suppressed =
        counter(registry, "epilogue_duplicates_suppressed_total", "Duplicates that were prevented, by where");
    Family<Counter>& dead =
        counter(registry, "epilogue_dead_letters_total", "Records that could not be used, by reason");
    Counter& rebalances =
        counter(registry, "epilogue_rebalances_total", "Assignments and revocations").Add({});
    Counter& fenced =
        counter(registry, "epilogue_fenced_total", "Transactions refused because a newer owner exists")
            .Add({});
    Counter& replaced = counter(registry, "epilogue_log_replaced_total",
                                "Partitions whose log was another one: topic made anew, other cluster")
                            .Add({});
    Counter& gaps = counter(registry, "epilogue_offset_gap_events_total",
                            "Offsets that retention removed before they were read")
                        .Add({});
    Counter& groups = counter(registry, "epilogue_group_changed_total",
                              "Partitions whose position in these tables another group had")
                          .Add({});
    Counter& added = counter(registry, "epilogue_partitions_added_total",
                             "Partitions that came after the topic was first seen")
                         .Add({});
    Counter& adopted =
        counter(registry, "epilogue_adopted_total", "Callback rows of others that were adopted").Add({});
    Family<Gauge>& held = gauge(registry, "epilogue_timeouts_held",
                                "Turns whose silence is due and held back by the storm brake");
    Family<Counter>& summaries =
        counter(registry, "epilogue_summaries_total", "Summaries made, by source and result");
    Family<Counter>& summary_questions =
        counter(registry, "epilogue_summary_questions_total", "Summary sources asked, by source and result");
    Family<Counter>& llm_tokens =
        counter(registry, "epilogue_llm_tokens_total", "Tokens of named models, by direction");
    Family<Counter>& llm_cost = counter(registry, "epilogue_llm_cost_total",
                                        "What named models cost, in the currency of their prices");
    Family<Counter>& catch_ups =
        counter(registry, "epilogue_catch_ups_total",
                "Conversations whose agent server was asked for what the topic had not told, by result");
    Family<Gauge>& build = gauge(registry, "epilogue_build_info", "Always 1; what is running");
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
    families_->build.Add({{"version", version}}).Set(1);
    for (const char* what : {"dead_letter", "body", "summary", "conversation", "delivery"})
        families_->retention.Add({{"what", what}});
}
Metrics::~Metrics() = default;

void Metrics::events(const std::string& schema, const std::string& outcome, double count) {
    families_->events.Add({{"schema", schema}, {"outcome", outcome}}).Increment(count);
}
void Metrics::transition(std::string_view verdict) {
    families_->transitions.Add({{"verdict", std::string(verdict)}}).Increment();
}
void Metrics::delivery_entered(const std::string& sink, std::string_view state, double rows) {
    families_->deliveries.Add({{"sink", sink}, {"state", std::string(state)}}).Increment(rows);
}
void Metrics::expect_sink(const std::string& sink, const std::vector<std::string>& classes,
                          const std::vector<std::string>& results) {
    for (const std::string& answer : classes) families_->attempts.Add({{"sink", sink}, {"class", answer}});
    for (const std::string& result : results) families_->lookups.Add({{"sink", sink}, {"result", result}});
}
void Metrics::attempt(const std::string& sink, std::string_view answer) {
    families_->attempts.Add({{"sink", sink}, {"class", std::string(answer)}}).Increment();
}
void Metrics::lookup(const std::string& sink, std::string_view result) {
    families_->lookups.Add({{"sink", sink}, {"result", std::string(result)}}).Increment();
}
void Metrics::healed(const std::string& sink) {
    families_->healed.Add({{"sink", sink}}).Increment();
}
void Metrics::suppressed(std::string_view where, double count) {
    families_->suppressed.Add({{"where", std::string(where)}}).Increment(count);
}
void Metrics::visible_after(const std::string& sink, std::chrono::duration<double> seconds) {
    families_->visible.Add({{"sink", sink}}, slow).Observe(seconds.count());
}
void Metrics::visible_after_event(const std::string& sink, std::chrono::duration<double> seconds) {
    families_->visible_after_event.Add({{"sink", sink}}, slow).Observe(seconds.count());
}
void Metrics::called(const std::string& sink, std::string_view call, std::chrono::duration<double> seconds) {
    families_->called.Add({{"sink", sink}, {"call", std::string(call)}}, slow).Observe(seconds.count());
}
void Metrics::dead_letter(const std::string& reason) {
    families_->dead.Add({{"reason", reason}}).Increment();
}
void Metrics::committed(std::chrono::duration<double> seconds) {
    families_->commit.Observe(seconds.count());
}
void Metrics::ambiguous_commit() {
    families_->ambiguous.Increment();
}
void Metrics::undone(std::string_view cause) {
    families_->undone.Add({{"cause", std::string(cause)}}).Increment();
}
void Metrics::retention_removed(std::string_view what, double count) {
    families_->retention.Add({{"what", std::string(what)}}).Increment(count);
}
void Metrics::rebalance() {
    families_->rebalances.Increment();
}
void Metrics::adopted() {
    families_->adopted.Increment();
}
void Metrics::timeouts_held(double turns) {
    families_->held.Add({}).Set(turns);
}
void Metrics::forget_timeouts_held() {
    families_->held.Remove(&families_->held.Add({}));
}
void Metrics::fenced() {
    families_->fenced.Increment();
}
void Metrics::log_replaced() {
    families_->replaced.Increment();
}
void Metrics::offset_gap(double offsets) {
    families_->gaps.Increment(offsets);
}
void Metrics::group_changed() {
    families_->groups.Increment();
}
void Metrics::partition_added() {
    families_->added.Increment();
}
void Metrics::summary(const std::string& source, std::string_view result) {
    families_->summaries.Add({{"source", source}, {"result", std::string(result)}}).Increment();
}
void Metrics::summary_asked(std::string_view source, std::string_view result) {
    families_->summary_questions.Add({{"source", std::string(source)}, {"result", std::string(result)}})
        .Increment();
}
void Metrics::llm_used(std::string_view model, std::int64_t tokens_in, std::int64_t tokens_out, double cost) {
    const std::string name(model);
    families_->llm_tokens.Add({{"model", name}, {"direction", "in"}})
        .Increment(static_cast<double>(tokens_in));
    families_->llm_tokens.Add({{"model", name}, {"direction", "out"}})
        .Increment(static_cast<double>(tokens_out));
    families_->llm_cost.Add({{"model", name}}).Increment(cost);
}
void Metrics::catch_up(std::string_view why, std::string_view result) {
    families_->catch_ups.Add({{"why", std::string(why)}, {"result", std::string(result)}}).Increment();
}
void Metrics::consumer_lag(const std::string& topic, int partition, double records) {
    families_->lag.Add({{"topic", topic}, {"partition", std::to_string(partition)}}).Set(records);
}
void Metrics::forget_lag(const std::string& topic, int partition) {
    const std::map<std::string, std::string> labels{{"topic", topic},
                                                    {"partition", std::to_string(partition)}};
    families_->lag.Remove(&families_->lag.Add(labels));
    families_->lag_seconds.Remove(&families_->lag_seconds.Add(labels));
}
void Metrics::consumer_lag_seconds(const std::string& topic, int partition, double seconds) {
    families_->lag_seconds.Add({{"topic", topic}, {"partition", std::to_string(partition)}}).Set(seconds);
}
void Metrics::undelivered(const std::vector<UndeliveredKind>& kinds) {
    ShownGauges shown;
    for (const UndeliveredKind& kind : kinds) {
        shown.set(families_->oldest, {{"sink", kind.sink}}, kind.oldest);
        for (const auto& [state, count] : kind.counts)
            shown.set(families_->undelivered, {{"sink", kind.sink}, {"state", state}}, count);
    }
    families_->undelivered_kinds.replace_with(std::move(shown));
}
void Metrics::gap_callbacks_remaining(double callbacks) {
    families_->gap_callbacks.Add({}).Set(callbacks);
}
void Metrics::catch_ups_hindered(const std::vector<std::pair<std::string, double>>& conversations) {
    ShownGauges shown;
    for (const auto& [hindrance, count] : conversations)
        shown.set(families_->catch_ups_hindered, {{"hindrance", hindrance}}, count);
    families_->hindrances.replace_with(std::move(shown));
}
void Metrics::parked(const std::vector<ParkedKind>& kinds) {
    ShownGauges shown;
    for (const ParkedKind& kind : kinds)
        shown.set(families_->parked, {{"sink", kind.sink}, {"why", kind.why}}, kind.count);
    families_->parked_kinds.replace_with(std::move(shown));
}
void Metrics::breakers(const std::vector<OpenBreaker>& open) {
    ShownGauges shown;
    for (const OpenBreaker& one : open)
        shown.set(families_->breakers,
                  {{"sink", one.sink}, {"credential", one.credential}, {"calls", one.calls}}, 1);
    families_->open_breakers.replace_with(std::move(shown));
}
void Metrics::ready(bool is_ready) {
    families_->ready.Set(is_ready ? 1 : 0);
}
void Metrics::forget_pool() {
    parked({});
    catch_ups_hindered({});
    undelivered({});
    breakers({});
    families_->gap_callbacks.Remove(&families_->gap_callbacks.Add({}));
}

std::string Metrics::text() const {
    auto families = families_->registry.Collect();
    for (prometheus::MetricFamily& family : process_metrics()) families.push_back(std::move(family));
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace epilogue
