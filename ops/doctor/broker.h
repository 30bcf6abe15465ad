// Kafka: is the topic there, and does it fit what we expect of it?
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/config.h"
#include "base/io/kafka.h"
#include "base/io/kafka_topic.h"
#include "ops/doctor/finding.h"

namespace epilogue::doctor {

/// Where we stand in the topic, by our own tables.
struct StoredPosition {
    std::int64_t next_offset = 0;
    std::string group;
    std::string cluster_id;
    std::optional<int> first_partitions;  ///< how many the topic had when the row was made
};
using StoredPositions = std::map<int, StoredPosition>;  ///< by partition

struct BrokerVisit {
    Findings findings;
    std::optional<TopicFacts> topic;  ///< as far as it is known
};

/// Asks the broker, within `wait`.
BrokerVisit visit_broker(const Config& config, std::chrono::milliseconds wait);

/// What that librdkafka cannot do. Pure.
Finding judge_client(const KafkaVersion& version);
/// What the topic's own settings mean for us. Pure.
Findings judge_topic(const Config& config, const TopicFacts& topic);
/// How far behind we are, and whether the topic still is the one we know. Pure.
Findings judge_positions(const Config& config, const TopicFacts& topic, const StoredPositions& positions);

/// True when every address of `addresses` ("host:port,…") is this machine's own.
bool is_loopback(const std::string& addresses);

}  // namespace epilogue::doctor
