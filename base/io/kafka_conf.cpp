#include "base/io/kafka_conf.h"

#include <array>
#include <cstdio>

#include "base/io/log.h"

namespace epilogue {
namespace {

void on_log(const rd_kafka_t*, int level, const char* facility, const char* text) {
    constexpr int warning = 4;  // syslog levels: smaller is worse
    if (level <= warning) log_debug("librdkafka", {{"facility", facility}, {"text", text}});
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
    std::array<char, 512> why{};
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK)
        return {};
    return fatal("[kafka] properties: " + name + ": " + why.data());
}

}  // namespace

Result<KafkaConf> kafka_conf(const KafkaSettings& settings,
                             const std::map<std::string, std::string>& defaults) {
    KafkaConf conf(rd_kafka_conf_new());
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    TRY_VOID(set(conf.get(), "bootstrap.servers", settings.brokers));
    TRY_VOID(set(conf.get(), "client.id", settings.client_id));
    for (const auto& [name, value] : defaults) TRY_VOID(set(conf.get(), name, value));
    for (const auto& [name, value] : settings.properties) {
        // Consumer-only properties are no fault of a producer and the other way round: librdkafka only warns.
        TRY_VOID(set(conf.get(), name, value));
    }
    return conf;
}

Result<KafkaConf> kafka_reading_conf(const KafkaSettings& settings,
                                     const std::map<std::string, std::string>& defaults) {
    std::map<std::string, std::string> all{
        {"enable.partition.eof", "true"},
        {"auto.offset.reset", "error"},
        {"isolation.level", "read_committed"},
        {"allow.auto.create.topics", "false"},
        {"topic.metadata.refresh.interval.ms", "10000"},
        {"reconnect.backoff.max.ms", "2000"},
        {"receive.message.max.bytes", std::to_string(max_kafka_answer_bytes)}};
    all.insert(defaults.begin(), defaults.end());
    return kafka_conf(settings, all);
}

Instant timestamp_of(const rd_kafka_message_t& message) {
    rd_kafka_timestamp_type_t type{};
    const std::int64_t ms = rd_kafka_message_timestamp(&message, &type);
    return Instant{std::chrono::milliseconds{type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? 0 : ms}};
}

Result<KafkaClient> kafka_client(rd_kafka_type_t type, KafkaConf conf) {
    std::array<char, 512> why{};
    rd_kafka_t* client = rd_kafka_new(type, conf.get(), why.data(), why.size());
    if (client == nullptr) return fatal(std::string("[kafka] ") + why.data());
    (void)conf.release();  // owned by the client now
    return KafkaClient(client);
}

std::string cluster_id_of(rd_kafka_t* client, std::chrono::milliseconds wait) {
    char* id = rd_kafka_clusterid(client, static_cast<int>(wait.count()));
    if (id == nullptr) return "";
    std::string copy(id);
    rd_kafka_mem_free(client, id);
    return copy;
}

Failure kafka_failure(rd_kafka_resp_err_t error, const std::string& doing) {
    return retryable("Kafka: " + doing + ": " + rd_kafka_err2str(error), static_cast<int>(error));
}

Result<void> ping_kafka(const KafkaSettings& settings, std::chrono::milliseconds wait) {
    TRY(auto conf, kafka_conf(settings, {}));
    TRY(const auto client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf)));
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto error = rd_kafka_metadata(client.get(), 0, nullptr, &metadata, static_cast<int>(wait.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_failure(error, "no broker answers at " + settings.brokers);
    rd_kafka_metadata_destroy(metadata);
    return {};
}

Result<void> create_topic(const KafkaSettings& settings, const std::string& topic, int partitions) {
    TRY(auto conf, kafka_conf(settings, {}));
    TRY(const auto client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf)));
    std::array<char, 512> why{};
    const Handle<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy> wanted(
        rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, why.data(), why.size()));
    if (!wanted) return fatal(why.data());
    const Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(client.get()));
    std::array<rd_kafka_NewTopic_t*, 1> topics{wanted.get()};
    rd_kafka_CreateTopics(client.get(), topics.data(), topics.size(), nullptr, queue.get());
    constexpr int deadline_ms = 10000;
    const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(
        rd_kafka_queue_poll(queue.get(), deadline_ms));
    if (!event) return retryable("Kafka: creating topic " + topic + ": no answer");
    if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_failure(error, "creating topic " + topic);
    std::size_t count = 0;
    const auto* results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto error = rd_kafka_topic_result_error(results[i]);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
            return kafka_failure(error, "creating topic " + topic);
    }
    return {};
}

std::string kafka_version() {
    return rd_kafka_version_str();
}

}  // namespace epilogue
