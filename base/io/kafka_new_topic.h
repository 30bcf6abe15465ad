// Makes a topic.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/io/kafka.h"

namespace epilogue {

struct NewTopic {
    std::string name;
    int partitions = 1;
    int replicas = -1;  ///< -1: as the broker does by itself
    std::map<std::string, std::string>
        config;  ///< "retention.ms", …; what is not named is the broker's default
};

/// True: it is made. False: it was there, and is as it was. Errors: retryable when no broker answers within
/// `wait`; poison, with the broker's reason, when it refuses (too few brokers, no right, a bad value).
Result<bool> create_topic(const KafkaSettings& settings, const NewTopic& wanted,
                          std::chrono::milliseconds wait);

}  // namespace epilogue
