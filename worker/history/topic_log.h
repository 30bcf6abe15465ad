// A conversation's events as the topic has them: read in its partition alone, from where it can have begun,
// and not for longer than an operator waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/io/kafka.h"
#include "worker/history/history.h"

namespace epilogue {

struct TopicLimits {
    std::chrono::milliseconds reach{5'000};    ///< until a broker has answered
    std::chrono::milliseconds within{10'000};  ///< all of it
    std::size_t max_records = 20'000'000;      ///< of all conversations
    std::size_t max_events = 50'000;           ///< of this one
};

/// Reads them. Where its partition is not known, it is looked for where producers with murmur2 put its id, as
/// it is and as a UUID with dashes.
SourceAnswer<TopicLog> read_topic(const KafkaSettings& settings, const std::string& topic,
                                  const ConversationId& id, const TopicHint& hint,
                                  const TopicLimits& limits = {});

}  // namespace epilogue
