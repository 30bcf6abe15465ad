// The poll thread: keeps the membership of the consumer group alive and fills the partition queues. It never
// waits for a batch: a partition whose queue is full is paused.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/io/consumer.h"
#include "worker/consume/partition_queues.h"
#include "worker/observe/telemetry.h"

namespace epilogue {

struct PollerRules {
    std::string topic;
    std::function<SteadyTime()> steady = [] { return std::chrono::steady_clock::now(); };
};

/// One thread.
class Poller {
  public:
    Poller(Consumer& consumer, PartitionQueues& queues, Telemetry telemetry, PollerRules rules)
        : consumer_(consumer), queues_(queues), telemetry_(telemetry), rules_(std::move(rules)) {}

    /// Subscribes to the topic; until a broker answers the worker is unready. Errors: Consumer::join()'s.
    Result<void> open();
    /// Turns until `stop`.
    void run(const std::stop_token& stop);
    /// Handles the next message of the consumer, if one comes within `wait`, and resumes what has room again.
    void turn(std::chrono::milliseconds wait);
    /// Leaves the group; the stored positions are committed on the way. Gives up after `deadline`.
    void close(std::chrono::milliseconds deadline);

  private:
    void assigned(const std::vector<int>& partitions);
    void revoked(const std::vector<int>& partitions, bool lost);
    void on(std::monostate) {}
    void on(Record& record);
    void on(const EndOfPartition& end);
    void on(const KafkaError& error);
    void check_kafka();

    Consumer& consumer_;
    PartitionQueues& queues_;
    const Telemetry telemetry_;
    const PollerRules rules_;
    bool is_in_doubt_ = true;  ///< an error was reported since the last good check, or there was none yet
    SteadyTime checked_at_{};
};

}  // namespace epilogue
