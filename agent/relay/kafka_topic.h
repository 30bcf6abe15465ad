// The topic over Kafka, bounded by bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "agent/relay/topic.h"
#include "base/io/kafka.h"
#include "base/result.h"

namespace epilogue::relay {

/// A record that is not acknowledged by then is given up. A lease under which records are produced has to be
/// held for longer.
constexpr std::chrono::seconds delivery_timeout{10};

struct KafkaTopicRules {
    std::string topic;
    std::size_t max_bytes = 0;  ///< of all records under way, and up to half of that more for the last one
    std::chrono::milliseconds delivered_within = delivery_timeout;
    /// Told of each record: success, or why it was given up. On the topic's own thread.
    std::function<void(const Result<void>&)> settled = [](const auto&) {};
};

class KafkaTopic final : public Topic {
  public:
    /// Connects in the background. Errors: Remedy::fatal, a property that librdkafka refuses.
    static Result<std::unique_ptr<KafkaTopic>> open(const KafkaSettings& settings, KafkaTopicRules rules);
    /// Gives up what is not acknowledged.
    ~KafkaTopic() override;

    bool produce(TopicRecord record, Settled settled) override;
    void when_room(std::function<void()> listener) override;

    /// Bytes of the records that were taken and are not settled.
    std::size_t bytes_under_way() const;
    /// For how long the oldest of them has been; 0: there is none.
    std::chrono::duration<double> oldest_under_way() const;

  private:
    class UnderWay;
    explicit KafkaTopic(std::unique_ptr<UnderWay> under_way);
    const std::unique_ptr<UnderWay> under_way_;
};

}  // namespace epilogue::relay
