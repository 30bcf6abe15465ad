#include "base/io/kafka_new_topic.h"

#include <array>

#include "base/io/kafka_conf.h"

namespace epilogue {
namespace {

using Topic = Handle<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;

Result<Topic> described(const NewTopic& wanted) {
    std::array<char, 512> why{};
    Topic topic(rd_kafka_NewTopic_new(wanted.name.c_str(), wanted.partitions, wanted.replicas, why.data(),
                                      why.size()));
    if (!topic) return poisonous(why.data());
    for (const auto& [name, value] : wanted.config)
        rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());
    return topic;
}

/// What the broker answered about the one topic.
Result<bool> outcome_of(rd_kafka_event_t* event) {
    std::size_t count = 0;
    const auto* results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    if (count != 1) return retryable("Kafka: no answer about the topic");
    const auto error = rd_kafka_topic_result_error(results[0]);
    if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return false;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    const char* why = rd_kafka_topic_result_error_string(results[0]);
    return poisonous(why != nullptr ? why : rd_kafka_err2str(error));
}

}  // namespace

Result<bool> create_topic(const KafkaSettings& settings, const NewTopic& wanted,
                          std::chrono::milliseconds wait) {
    KafkaHooks hooks(settings.token);
    TRY(auto conf, kafka_conf(settings, {}));
    TRY(const auto client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf), hooks));
    TRY(const auto topic, described(wanted));
    const Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(client.get()));
    std::array<rd_kafka_NewTopic_t*, 1> topics{topic.get()};
    rd_kafka_CreateTopics(client.get(), topics.data(), topics.size(), nullptr, queue.get());
    const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(
        rd_kafka_queue_poll(queue.get(), static_cast<int>(wait.count())));
    if (event && rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NO_ERROR)
        return outcome_of(event.get());
    serve_callbacks(client.get());
    return retryable(hooks.with_reason("Kafka: no broker answers at " + settings.brokers));
}

}  // namespace epilogue
