#include "worker/consume/poller.h"

#include "base/io/log.h"

namespace epilogue {
namespace {

constexpr std::chrono::milliseconds poll_wait{100};
constexpr std::chrono::milliseconds commit_wait{5000};
constexpr std::chrono::milliseconds check_wait{1000};
constexpr std::chrono::seconds check_in_doubt_every{1};
/// A right that is taken away is told by no error where nothing is asked for.
constexpr std::chrono::seconds check_every{10};

std::string listed(const std::vector<int>& partitions) {
    std::string text;
    for (const int partition : partitions) text += (text.empty() ? "" : ",") + std::to_string(partition);
    return text;
}

/// Pausing and resuming fail only for partitions that are no longer assigned.
void note(const Result<void>& done) {
    if (!done) log_debug(done.error().text);
}

}  // namespace

Result<void> Poller::open() {
    TRY_VOID(consumer_.join({[this](const auto& partitions) { assigned(partitions); },
                             [this](const auto& partitions, bool lost) { revoked(partitions, lost); }}));
    telemetry_.readiness.await("kafka", "no broker has answered yet");
    return {};
}

void Poller::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) turn(poll_wait);
}

void Poller::turn(std::chrono::milliseconds wait) {
    Polled polled = consumer_.poll(wait);
    std::visit([this](auto& found) { on(found); }, polled);
    check_kafka();
    for (const int partition : queues_.partitions_to_resume()) note(consumer_.resume(partition));
}

void Poller::close(std::chrono::milliseconds deadline) {
    consumer_.close(deadline);
}

void Poller::assigned(const std::vector<int>& partitions) {
    log_info("partitions assigned", {{"partitions", listed(partitions)}});
    telemetry_.metrics.rebalance();
    telemetry_.readiness.set("topic", "");
    queues_.assign(partitions);
}

void Poller::revoked(const std::vector<int>& partitions, bool lost) {
    log_info("partitions revoked", {{"partitions", listed(partitions)}, {"lost", lost ? "yes" : "no"}});
    telemetry_.metrics.rebalance();
    const auto stored = queues_.revoke(partitions);
    for (const int partition : partitions) {
        telemetry_.readiness.set(partition_name(rules_.topic, partition), "");
        telemetry_.metrics.forget_lag(rules_.topic, partition);
    }
    if (lost) return;
    if (const auto committed = consumer_.commit(stored, commit_wait); !committed)
        log_warn(
            "the last commit before giving partitions up failed; their records will be read again and "
            "recognised",
            {{"why", committed.error().text}});
}

void Poller::on(Record& record) {
    const int partition = record.partition;
    if (queues_.push(std::move(record)) == PartitionQueues::After::pause) note(consumer_.pause(partition));
}

void Poller::on(const EndOfPartition& end) {
    queues_.on_partition_eof(end);
}

void Poller::on(const KafkaError& error) {
    switch (error.kind) {
        case KafkaError::Kind::no_topic:
            telemetry_.readiness.set("topic", "topic " + rules_.topic + " does not exist: create it");
            break;
        case KafkaError::Kind::out_of_range:
            consumer_.reset_assignment();  // the new claims find out what became of the log
            break;
        case KafkaError::Kind::connection:
            is_in_doubt_ = true;
            break;
    }
    log_debug("Kafka says", {{"why", error.text}});
}

/// One lost connection does not make the worker unready; that no broker answers does, and so does a missing
/// right.
void Poller::check_kafka() {
    const auto now = rules_.steady();
    if (now - checked_at_ < (is_in_doubt_ ? check_in_doubt_every : check_every)) return;
    checked_at_ = now;
    const auto good = consumer_.check(check_wait);
    is_in_doubt_ = !good;
    telemetry_.readiness.set("kafka", good ? "" : good.error().text);
}

}  // namespace epilogue
