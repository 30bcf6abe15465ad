// What the broker says of a topic: asked once, outside of any group.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/io/kafka.h"

namespace epilogue {

struct TopicFacts {
    /// What we need and are not granted, a sentence each. When the topic itself is hidden from us nothing
    /// else is known.
    std::vector<std::string> missing_rights;
    std::string cluster_id;
    std::map<int, Watermarks> partitions;
    std::map<std::string, std::string> config;  ///< as the topic has it: "retention.ms", …; empty: not told
    std::string config_refused;                 ///< why it was not told
};

/// What is asked about.
struct TopicQuestion {
    std::string topic;
    std::string group;        ///< that reads it
    std::string produces_to;  ///< another topic, that the group's members produce to; "": none
};

/// nullopt: the broker knows no such topic. Retryable when no broker answers; all of it within `wait`, a
/// partition that has not answered until then is left out.
Result<std::optional<TopicFacts>> topic_facts(const KafkaSettings& settings, const TopicQuestion& question,
                                              std::chrono::milliseconds wait);

/// Success: the topic is there, or is hidden from us, so that only producing to it shows what we may. Errors:
/// retryable when no broker answers within `wait`, with the brokers and why connecting failed; Remedy::fatal
/// when there is no such topic, and for a property that librdkafka refuses. Creates none, also on brokers
/// that do so for everyone who names one.
Result<void> find_topic(const KafkaSettings& settings, const std::string& topic,
                        std::chrono::milliseconds wait);

}  // namespace epilogue
