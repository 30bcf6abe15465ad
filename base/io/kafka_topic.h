// What the broker says of a topic, for the doctor: asked once, outside of any group.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/io/kafka.h"

namespace epilogue {

struct TopicFacts {
    std::string cluster_id;
    std::map<int, Watermarks> partitions;
    std::map<std::string, std::string> config;  ///< as the topic has it: "retention.ms", …; empty: not told
    std::string config_refused;                 ///< why it was not told
};

/// nullopt: the broker knows no such topic. Retryable when no broker answers; all of it within `wait`, a
/// partition that has not answered until then is left out.
Result<std::optional<TopicFacts>> topic_facts(const KafkaSettings& settings, const std::string& topic,
                                              std::chrono::milliseconds wait);

}  // namespace epilogue
