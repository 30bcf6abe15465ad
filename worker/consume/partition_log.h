// The port to the log: what the loop asks of it. worker/consume/poller.h is the one over Kafka.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/io/kafka.h"

namespace epilogue {

class Log {
  public:
    Log() = default;
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    virtual ~Log() = default;

    /// Empty when no broker has said it.
    virtual std::string cluster_id() = 0;
    /// How many partitions the topic has now.
    virtual Result<int> partitions() = 0;
    /// Where a partition that was never claimed starts.
    virtual Result<NextOffset> first_position(int partition) = 0;
    /// The record with exactly that offset, read now; nullopt when there is none.
    virtual Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset) = 0;
    /// Reads on from `position`; the partition is assigned.
    virtual Result<void> read_from(int partition, NextOffset position) = 0;
    virtual void stop_reading(int partition) = 0;
    /// Asked of the broker now.
    virtual Result<Watermarks> watermarks(int partition) = 0;
    /// Lets the committed offsets follow; does not wait.
    virtual void commit(const std::map<int, NextOffset>& positions) = 0;
    /// Waits for the broker's answer: proof of membership in the group's present generation.
    virtual Result<void> commit_and_wait(int partition, NextOffset position) = 0;
};

}  // namespace epilogue
