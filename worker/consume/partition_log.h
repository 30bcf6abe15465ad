// The port through which the loop and the claim ask the log (Kafka's topic) about a partition.
// worker/consume/consumer_log.h implements it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/io/consumer.h"

namespace epilogue {

/// Calls may wait for the broker, but for commit(). Errors are retryable: no broker answers in time.
class PartitionLog {
  public:
    PartitionLog() = default;
    PartitionLog(const PartitionLog&) = delete;
    PartitionLog& operator=(const PartitionLog&) = delete;
    virtual ~PartitionLog() = default;

    /// The cluster's id; empty when no broker has told it.
    virtual std::string cluster_id() = 0;
    /// The topic's id; empty when the broker does not tell it, or knows none.
    virtual std::string topic_id() = 0;
    /// How many partitions the topic has now.
    virtual Result<int> partitions() = 0;
    /// Where reading starts in a partition that was never claimed.
    virtual Result<NextOffset> first_position(int partition) = 0;
    /// The record with exactly that offset, read now; nullopt when there is none.
    virtual Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset) = 0;
    /// Reads an assigned partition from `position` on.
    virtual Result<void> read_from(int partition, NextOffset position) = 0;
    /// Pauses the partition.
    virtual void stop_reading(int partition) = 0;
    /// Beginning and end of the partition, asked of the broker now.
    virtual Result<Watermarks> watermarks(int partition) = 0;
    /// Sends the positions to the broker as the group's committed offsets; does not wait for its answer.
    virtual void commit(const std::map<int, NextOffset>& positions) = 0;
    /// Commits and waits for the broker's answer. Success proves that this worker is a member of the group's
    /// present generation.
    virtual Result<void> commit_and_wait(int partition, NextOffset position) = 0;
};

}  // namespace epilogue
