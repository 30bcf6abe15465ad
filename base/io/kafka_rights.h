// Which of the rights that a worker needs the broker does not grant.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <librdkafka/rdkafka.h>

namespace epilogue {

/// Names that are "" are not asked for.
struct NeededRights {
    std::string reads;     ///< a topic
    std::string joins;     ///< a consumer group
    std::string produces;  ///< a topic
};

struct KafkaRights {
    std::vector<std::string> missing;  ///< a sentence each: what, and which right would mend it
    std::optional<bool>
        may_join;  ///< nullopt: the broker does not tell, as of a group that does not exist yet
};

/// Asks the broker, at most `wait` for topics and for the group; what it does not answer counts as granted,
/// and so do the group where the client is not ours, and everything where it is older than 2.3.
KafkaRights kafka_rights(rd_kafka_t* client, const NeededRights& needed, std::chrono::milliseconds wait);

/// The sentence for a group that does not let us in.
std::string no_right_to_join(const std::string& group);

/// The sentence for a topic that may not be read.
std::string no_right_to_read(const std::string& topic);

}  // namespace epilogue
