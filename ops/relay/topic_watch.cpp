#include "ops/relay/topic_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/relay/trimmed_event.h"
#include "base/io/kafka_topic.h"
#include "base/stoppable_wait.h"
#include "base/text.h"
#include "base/thread_name.h"

namespace epilogue {

std::size_t event_limit(std::size_t max_event_bytes, const std::string& max_message_bytes) {
    const auto taken = integer_in(max_message_bytes);
    if (!taken) return max_event_bytes;
    constexpr std::int64_t around_it = 8192;  // key, headers and the batch's own
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(*taken - around_it, 0));
    return std::max(std::min(max_event_bytes, room), relay::least_event_limit);
}

TopicWatch::TopicWatch(KafkaSettings settings, TopicWatchRules rules, Readiness& readiness)
    : settings_(std::move(settings)),
      rules_(std::move(rules)),
      readiness_(readiness),
      limit_(event_limit(rules_.max_event_bytes, "1048588")) {  // Kafka's default, until it is told
    readiness_.await("topic", "no broker has answered yet");
    thread_ = named_thread("relay-topic", [this](const std::stop_token& stop) {
        constexpr std::chrono::seconds soon{2};
        constexpr std::chrono::seconds later{15};
        do ask();
        while (wait_or_stop(stop, is_known_ ? later : soon));
    });
}

void TopicWatch::ask() {
    constexpr std::chrono::seconds answered_within{5};
    const auto facts = topic_facts(settings_, {rules_.topic, "", ""}, answered_within);
    is_known_ = facts && *facts;
    if (!is_known_)
        return readiness_.set("topic",
                              facts ? "there is no topic \"" + rules_.topic + "\"" : facts.error().text);
    const auto& config = (*facts)->config;
    const auto max = config.find("max.message.bytes");
    if (max != config.end()) limit_ = event_limit(rules_.max_event_bytes, max->second);
    readiness_.set("topic", "");
    // What a record that was given up has put there: without requests no other record would take it away.
    readiness_.set("kafka", "");
}

}  // namespace epilogue
