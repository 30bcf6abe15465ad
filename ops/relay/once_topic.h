// The topic as `relay --once` fills it: takes a record when there is room, and knows what has arrived.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "agent/relay/follow/follow_rules.h"
#include "agent/relay/kafka_topic.h"
#include "base/config.h"
#include "base/result.h"

namespace epilogue {

/// Thread-safe.
class OnceTopic final : public relay::Topic {
  public:
    /// Errors: retryable, no broker answers; fatal, there is no such topic, or a property of Kafka.
    static Result<std::unique_ptr<OnceTopic>> open(const Config& config);

    bool produce(relay::TopicRecord record, Settled settled) override;
    void when_room(std::function<void()> listener) override;

    /// Produces as soon as there is room.
    void produce_when_room(const relay::TopicRecord& record);
    /// Waits until nothing is under way.
    void wait_for_all();
    /// What makes the records; `invalid()` counts what is no JSON.
    relay::RecordMaker record_maker(const Config& config);

    std::int64_t acknowledged() const { return acknowledged_; }
    std::int64_t given_up() const { return given_up_; }
    std::int64_t invalid() const { return invalid_; }
    std::string last_error() const;

  private:
    OnceTopic() = default;
    void one_is_over(const Result<void>& answer);

    std::size_t limit_ = 0;
    std::atomic<std::int64_t> acknowledged_ = 0;
    std::atomic<std::int64_t> given_up_ = 0;
    std::atomic<std::int64_t> invalid_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t under_way_ = 0;
    std::string last_error_;
    std::unique_ptr<relay::KafkaTopic> topic_;  ///< ends first: it tells of what it gives up
};

}  // namespace epilogue
