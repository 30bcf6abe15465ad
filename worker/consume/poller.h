// The poll thread: keeps the group membership alive, feeds the queues, and is the loop's PartitionLog.
// Polling never waits for a batch: what does not fit is paused.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/config.h"
#include "base/io/kafka.h"
#include "worker/consume/partition_log.h"
#include "worker/consume/partition_queues.h"
#include "worker/observe/metrics.h"
#include "worker/observe/readiness.h"

namespace epilogue {

class Poller final : public PartitionLog {
  public:
    Poller(KafkaSettings settings, std::string topic, std::string group, OffsetReset start,
           PartitionQueues& queues, Metrics& metrics, Readiness& readiness);
    ~Poller() override;

    /// Joins the group. Errors: a property that librdkafka refuses.
    Result<void> open();
    /// Polls until `stop`; call close() afterwards, on the same thread.
    void run(const std::stop_token& stop);
    /// Leaves the group; the last stored positions are committed on the way.
    void close(std::chrono::milliseconds deadline);

    std::string cluster_id() override;
    Result<int> partitions() override;
    Result<NextOffset> first_position(int partition) override;
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset) override;
    Result<void> read_from(int partition, NextOffset position) override;
    void stop_reading(int partition) override;
    Result<Watermarks> watermarks(int partition) override;
    void commit(const std::map<int, NextOffset>& positions) override;
    Result<void> commit_and_wait(int partition, NextOffset position) override;

  private:
    void assigned(const std::vector<int>& partitions);
    void revoked(const std::vector<int>& partitions, bool lost);
    void on(std::monostate) {}
    void check_reachable();
    void on(Record& record);
    void on(const EndOfPartition& end);
    void on(const KafkaError& trouble);

    const KafkaSettings settings_;
    const std::string topic_;
    const std::string group_;
    const OffsetReset start_;
    PartitionQueues& queues_;
    Metrics& metrics_;
    Readiness& readiness_;
    std::unique_ptr<KafkaConsumer> consumer_;
    std::unique_ptr<KafkaReader> reader_;  ///< the loop's; a client of its own, made when it is first needed
    bool in_doubt_ = true;                 ///< whether any broker can be reached
    std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace epilogue
