// The loop's PartitionLog over the consumer that the poll thread polls.
#pragma once

#include <atomic>
#include <chrono>

#include "base/config.h"
#include "base/io/consumer.h"
#include "worker/consume/partition_log.h"

namespace epilogue {

/// As thread-safe as the consumer; each call waits for the broker 5 s at most.
class ConsumerLog final : public PartitionLog {
  public:
    /// `reset`: where reading starts in a partition without any position.
    ConsumerLog(Consumer& consumer, OffsetReset reset) : consumer_(consumer), reset_(reset) {}

    std::string cluster_id() override;
    std::string topic_id() override;
    Result<int> partitions() override;
    /// The group's committed offset, or what `reset` says.
    Result<NextOffset> first_position(int partition) override;
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset) override;
    Result<void> read_from(int partition, NextOffset position) override;
    void stop_reading(int partition) override;
    Result<Watermarks> watermarks(int partition) override;
    void commit(const std::map<int, NextOffset>& positions) override;
    Result<void> commit_and_wait(int partition, NextOffset position) override;

  private:
    Consumer& consumer_;
    const OffsetReset reset_;
    std::atomic<std::chrono::steady_clock::time_point> id_not_before_{};  ///< the topic's is asked for
};

}  // namespace epilogue
