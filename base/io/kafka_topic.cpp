#include "base/io/kafka_topic.h"

#include <algorithm>
#include <array>

#include "base/io/kafka_conf.h"
#include "base/io/kafka_rights.h"

namespace epilogue {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 1));
}

/// How many partitions; nullopt: there is no such topic, or it is hidden from us.
Result<std::optional<int>> count_of(rd_kafka_t* client, const KafkaHooks& hooks, const std::string& topic,
                                    Clock::time_point deadline) {
    const rd_kafka_metadata_t* answer = nullptr;
    // All topics: asking for one by name would create it where brokers do so.
    const auto error = rd_kafka_metadata(client, 1, nullptr, &answer, milliseconds_until(deadline));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        serve_callbacks(client);
        const std::string why = hooks.last_failure();
        return retryable(why.empty() ? rd_kafka_err2str(error) : why, static_cast<int>(error));
    }
    const Handle<const rd_kafka_metadata_t, rd_kafka_metadata_destroy> metadata(answer);
    for (int i = 0; i < answer->topic_cnt; ++i)
        if (topic == answer->topics[i].topic && answer->topics[i].partition_cnt > 0)
            return std::optional(answer->topics[i].partition_cnt);
    return std::optional<int>();
}

Result<std::map<std::string, std::string>> config_of(rd_kafka_t* client, const std::string& topic,
                                                     Clock::time_point deadline) {
    const Handle<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy> wanted(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    const Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(client));
    std::array<rd_kafka_ConfigResource_t*, 1> resources{wanted.get()};
    rd_kafka_DescribeConfigs(client, resources.data(), resources.size(), nullptr, queue.get());
    const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(
        rd_kafka_queue_poll(queue.get(), milliseconds_until(deadline)));
    if (!event) return retryable("Kafka: the topic's configuration: no answer");
    if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_failure(error, "the topic's configuration");
    std::size_t count = 0;
    const auto* answers =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
    std::map<std::string, std::string> config;
    for (std::size_t i = 0; i < count; ++i) {
        if (const auto error = rd_kafka_ConfigResource_error(answers[i]); error != RD_KAFKA_RESP_ERR_NO_ERROR)
            return kafka_failure(error, "the topic's configuration");
        std::size_t entries = 0;
        const auto* const* list = rd_kafka_ConfigResource_configs(answers[i], &entries);
        for (std::size_t k = 0; k < entries; ++k)
            if (const char* value = rd_kafka_ConfigEntry_value(list[k]))
                config[rd_kafka_ConfigEntry_name(list[k])] = value;
    }
    return config;
}

}  // namespace

Result<std::optional<TopicFacts>> topic_facts(const KafkaSettings& settings, const TopicQuestion& question,
                                              std::chrono::milliseconds wait) {
    const auto deadline = Clock::now() + wait;
    const std::string& topic = question.topic;
    KafkaHooks hooks(settings.token);
    TRY(auto conf, kafka_conf(settings, {{"allow.auto.create.topics", "false"}}));
    TRY(const auto client, kafka_client(RD_KAFKA_CONSUMER, std::move(conf), hooks));
    TRY(const auto count, count_of(client.get(), hooks, topic, deadline));
    TopicFacts facts;
    facts.missing_rights = kafka_rights(client.get(), {topic, question.group, question.produces_to},
                                        std::chrono::milliseconds{milliseconds_until(deadline)})
                               .missing;
    const bool is_hidden =
        std::ranges::find(facts.missing_rights, no_right_to_read(topic)) != facts.missing_rights.end();
    if (!count && !is_hidden) return std::optional<TopicFacts>();
    if (!count) return std::optional(std::move(facts));
    facts.cluster_id = cluster_id_of(client.get(), std::chrono::milliseconds{milliseconds_until(deadline)});
    if (auto config = config_of(client.get(), topic, deadline))
        facts.config = std::move(*config);
    else
        facts.config_refused = config.error().text;
    for (int partition = 0; partition < *count; ++partition) {
        Watermarks marks;
        if (rd_kafka_query_watermark_offsets(client.get(), topic.c_str(), partition, &marks.low, &marks.high,
                                             milliseconds_until(deadline)) == RD_KAFKA_RESP_ERR_NO_ERROR)
            facts.partitions[partition] = marks;
    }
    return std::optional(std::move(facts));
}

Result<void> find_topic(const KafkaSettings& settings, const std::string& topic,
                        std::chrono::milliseconds wait) {
    const auto deadline = Clock::now() + wait;
    KafkaHooks hooks(settings.token);
    TRY(auto conf, kafka_conf(settings, {}));
    TRY(const auto client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf), hooks));
    const auto count = count_of(client.get(), hooks, topic, deadline);
    if (!count)
        return retryable("Kafka: no broker answers at " + settings.brokers + ": " + count.error().text,
                         count.error().code);
    if (*count) return {};
    const auto rights =
        kafka_rights(client.get(), {"", "", topic}, std::chrono::milliseconds{milliseconds_until(deadline)});
    if (!rights.missing.empty()) return {};
    return fatal("[kafka] topic: there is no topic \"" + topic + "\"; make it with `epilogue topic create`");
}

}  // namespace epilogue
