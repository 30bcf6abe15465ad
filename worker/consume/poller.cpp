#include "worker/consume/poller.h"

#include "base/io/log.h"

namespace epilogue {
namespace {

constexpr std::chrono::milliseconds poll_wait{100};
constexpr std::chrono::milliseconds answer_wait{5000};
constexpr std::chrono::milliseconds health_wait{1000};
constexpr std::chrono::seconds ask_every{1};

std::string listed(const std::vector<int>& partitions) {
    std::string text;
    for (const int partition : partitions) text += (text.empty() ? "" : ",") + std::to_string(partition);
    return text;
}

}  // namespace

Poller::Poller(KafkaSettings settings, std::string topic, std::string group, OffsetReset start,
               PartitionQueues& queues, Metrics& metrics, Readiness& readiness)
    : settings_(std::move(settings)),
      topic_(std::move(topic)),
      group_(std::move(group)),
      start_(start),
      queues_(queues),
      metrics_(metrics),
      readiness_(readiness) {}

Poller::~Poller() = default;

Result<void> Poller::open() {
    RebalanceListener listener{[this](const auto& partitions) { assigned(partitions); },
                               [this](const auto& partitions, bool lost) { revoked(partitions, lost); }};
    TRY(consumer_, KafkaConsumer::open(settings_, topic_, group_, std::move(listener)));
    readiness_.await("kafka", "no broker has answered yet");
    return {};
}

void Poller::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Polled polled = consumer_->poll(poll_wait);
        std::visit([this](auto& found) { on(found); }, polled);
        if (in_doubt_) check_reachable();
        for (const int partition : queues_.partitions_to_resume())
            if (const auto resumed = consumer_->resume(partition); !resumed) log_debug(resumed.error().text);
    }
}

void Poller::close(std::chrono::milliseconds deadline) {
    consumer_->close(deadline);
}

void Poller::assigned(const std::vector<int>& partitions) {
    log_info("partitions assigned", {{"partitions", listed(partitions)}});
    metrics_.rebalance();
    readiness_.set("topic", "");
    queues_.assign(partitions);
}

void Poller::revoked(const std::vector<int>& partitions, bool lost) {
    log_info("partitions revoked", {{"partitions", listed(partitions)}, {"lost", lost ? "yes" : "no"}});
    metrics_.rebalance();
    const auto stored = queues_.revoke(partitions);
    for (const int partition : partitions) {
        readiness_.set(partition_name(topic_, partition), "");
        metrics_.forget_lag(topic_, partition);
    }
    if (lost) return;
    if (const auto committed = consumer_->commit(stored, answer_wait); !committed)
        log_warn(
            "the last commit before giving partitions up failed; their records will be read again and "
            "recognised",
            {{"why", committed.error().text}});
}

/// A single lost connection is nothing: only when no broker answers is the worker unready.
void Poller::check_reachable() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_at_ < ask_every) return;
    asked_at_ = now;
    in_doubt_ = !consumer_->is_reachable(health_wait);
    readiness_.set("kafka", in_doubt_ ? "no broker answers at " + settings_.brokers : "");
}

void Poller::on(Record& record) {
    const int partition = record.partition;
    if (queues_.push(std::move(record)) == PartitionQueues::After::pause)
        if (const auto paused = consumer_->pause(partition); !paused) log_debug(paused.error().text);
}

void Poller::on(const EndOfPartition& end) {
    queues_.on_partition_eof(end);
}

void Poller::on(const KafkaError& trouble) {
    if (trouble.no_topic)
        readiness_.set("topic", "topic " + topic_ + " does not exist: create it");
    else if (trouble.out_of_range)
        consumer_->reset_assignment();  // the claims find out what became of the log
    else
        in_doubt_ = true;
    log_debug("Kafka says", {{"why", trouble.text}});
}

std::string Poller::cluster_id() {
    return consumer_->cluster_id(answer_wait);
}

Result<int> Poller::partitions() {
    return consumer_->partitions(answer_wait);
}

Result<std::optional<RecordFingerprint>> Poller::record_at(int partition, Offset offset) {
    if (!reader_) {
        KafkaSettings settings = settings_;
        settings.client_id += "-reader";
        TRY(reader_, KafkaReader::open(settings, topic_));
    }
    return reader_->record_at(partition, offset, answer_wait);
}

Result<NextOffset> Poller::first_position(int partition) {
    TRY(const auto committed, consumer_->committed(partition, answer_wait));
    if (committed) return *committed;
    if (start_ == OffsetReset::error)
        return retryable(
            "no stored and no committed offset, and [kafka] start is \"error\": set it to earliest or "
            "latest");
    TRY(const Watermarks marks, consumer_->watermarks(partition, answer_wait));
    return NextOffset{start_ == OffsetReset::earliest ? marks.low : marks.high};
}

Result<void> Poller::read_from(int partition, NextOffset position) {
    TRY_VOID(consumer_->seek(partition, position));
    return consumer_->resume(partition);
}

void Poller::stop_reading(int partition) {
    if (const auto paused = consumer_->pause(partition); !paused) log_debug(paused.error().text);
}

Result<Watermarks> Poller::watermarks(int partition) {
    return consumer_->watermarks(partition, answer_wait);
}

void Poller::commit(const std::map<int, NextOffset>& positions) {
    if (const auto asked = consumer_->commit(positions, std::nullopt); !asked) log_debug(asked.error().text);
}

Result<void> Poller::commit_and_wait(int partition, NextOffset position) {
    return consumer_->commit({{partition, position}}, answer_wait);
}

}  // namespace epilogue
