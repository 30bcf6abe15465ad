// Asks the broker about the topic now and then: whether it is there, and how large an event it takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

#include "base/io/kafka.h"
#include "worker/observe/readiness.h"

namespace epilogue {

struct TopicWatchRules {
    std::string topic;
    std::size_t max_event_bytes = 0;  ///< that we produce, whatever the topic takes
};

/// How large an event may be so that its record is taken by a topic with that `max.message.bytes` ("": it is
/// not known).
std::size_t event_limit(std::size_t max_event_bytes, const std::string& max_message_bytes);

/// On a thread of its own. `readiness` is told of the component "topic", and that "kafka" answers again; it
/// outlives it.
class TopicWatch {
  public:
    TopicWatch(KafkaSettings settings, TopicWatchRules rules, Readiness& readiness);

    /// The largest event that the topic takes, as far as it is known.
    std::size_t max_event_bytes() const { return limit_; }

  private:
    void ask();

    const KafkaSettings settings_;
    const TopicWatchRules rules_;
    Readiness& readiness_;
    std::atomic<std::size_t> limit_;
    bool is_known_ = false;
    std::jthread thread_;
};

}  // namespace epilogue
