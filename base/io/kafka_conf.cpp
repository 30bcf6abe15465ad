#include "base/io/kafka_conf.h"

#include <algorithm>
#include <array>

namespace epilogue {
namespace {

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
    std::array<char, 512> why{};
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK)
        return {};
    return fatal("[kafka] properties: " + name + ": " + why.data());
}

/// Starting again from bootstrap.servers when all brokers are down loses, in librdkafka 2.12.1, a client that
/// was just beginning: an answer that comes before the timer stops it for good, and it never connects again.
/// Versions that know no such thing are left as they are.
Result<void> keep_known_brokers(rd_kafka_conf_t* conf) {
    constexpr const char* strategy = "metadata.recovery.strategy";
    std::size_t size = 0;
    if (rd_kafka_conf_get(conf, strategy, nullptr, &size) != RD_KAFKA_CONF_OK) return {};
    return set(conf, strategy, "none");
}

}  // namespace

Result<KafkaConf> kafka_conf(const KafkaSettings& settings,
                             const std::map<std::string, std::string>& defaults) {
    KafkaConf conf(rd_kafka_conf_new());
    if (!settings.brokers.empty()) TRY_VOID(set(conf.get(), "bootstrap.servers", settings.brokers));
    TRY_VOID(set(conf.get(), "client.id", settings.client_id));
    TRY_VOID(keep_known_brokers(conf.get()));
    for (const auto& [name, value] : defaults) TRY_VOID(set(conf.get(), name, value));
    std::string faults;
    for (const auto& [name, value] : settings.properties) {
        // Consumer-only properties are no fault of a producer and the other way round: librdkafka only warns.
        if (const auto done = set(conf.get(), name, value); !done)
            faults += (faults.empty() ? "" : "\n") + done.error().text;
    }
    if (!faults.empty()) return fatal(std::move(faults));
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

Result<KafkaClient> kafka_client(rd_kafka_type_t type, KafkaConf conf, KafkaHooks& hooks) {
    hooks.install(conf.get());
    std::array<char, 512> why{};
    rd_kafka_t* client = rd_kafka_new(type, conf.get(), why.data(), why.size());
    if (client == nullptr) return fatal(std::string("[kafka] ") + why.data());
    (void)conf.release();  // owned by the client now
    hooks.start(client);
    return KafkaClient(client);
}

void serve_callbacks(rd_kafka_t* client) {
    while (rd_kafka_poll(client, 0) > 0) {
    }
}

std::string cluster_id_of(rd_kafka_t* client, std::chrono::milliseconds wait) {
    char* id = rd_kafka_clusterid(client, static_cast<int>(wait.count()));
    if (id == nullptr) return "";
    std::string copy(id);
    rd_kafka_mem_free(client, id);
    return copy;
}

#if RD_KAFKA_VERSION >= 0x02030000
std::string topic_id_of(rd_kafka_t* client, const std::string& topic, std::chrono::milliseconds wait) {
    const int wait_ms = static_cast<int>(wait.count());
    std::array<const char*, 1> names{topic.c_str()};
    const Handle<rd_kafka_TopicCollection_t, rd_kafka_TopicCollection_destroy> topics(
        rd_kafka_TopicCollection_of_topic_names(names.data(), names.size()));
    const Handle<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy> options(
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS));
    std::array<char, 128> why{};
    rd_kafka_AdminOptions_set_request_timeout(options.get(), wait_ms, why.data(), why.size());
    const Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(client));
    rd_kafka_DescribeTopics(client, topics.get(), options.get(), queue.get());
    const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(rd_kafka_queue_poll(queue.get(), wait_ms));
    if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return "";
    std::size_t count = 0;
    const auto* answers =
        rd_kafka_DescribeTopics_result_topics(rd_kafka_event_DescribeTopics_result(event.get()), &count);
    if (count != 1 || rd_kafka_error_code(rd_kafka_TopicDescription_error(answers[0])) != 0) return "";
    const rd_kafka_Uuid_t* const id = rd_kafka_TopicDescription_topic_id(answers[0]);
    const bool is_known = id != nullptr && (rd_kafka_Uuid_most_significant_bits(id) != 0 ||
                                            rd_kafka_Uuid_least_significant_bits(id) != 0);
    const char* const digits = is_known ? rd_kafka_Uuid_base64str(id) : nullptr;
    std::string text = digits == nullptr ? "" : digits;
    std::ranges::replace(text, '+', '-');  // Kafka's tools write the alphabet of URLs
    std::ranges::replace(text, '/', '_');
    return text;
}
#else
std::string topic_id_of(rd_kafka_t*, const std::string&, std::chrono::milliseconds) {
    return "";
}
#endif

Failure kafka_failure(rd_kafka_resp_err_t error, const std::string& doing) {
    return retryable("Kafka: " + doing + ": " + rd_kafka_err2str(error), static_cast<int>(error));
}

Result<void> try_kafka_settings(const KafkaSettings& settings) {
    KafkaSettings unconnected = settings;
    unconnected.brokers.clear();
    if (settings.token)
        unconnected.token = []() -> Result<KafkaToken> { return retryable("no token is wanted here"); };
    KafkaHooks hooks(unconnected.token);
    TRY(auto member, group_member_conf(unconnected, "epilogue"));
    TRY_VOID(kafka_client(RD_KAFKA_CONSUMER, std::move(member), hooks));
    TRY(auto producing, producer_conf(unconnected));
    TRY_VOID(kafka_client(RD_KAFKA_PRODUCER, std::move(producing), hooks));
    return {};
}

KafkaVersion kafka_version() {
#ifdef EPILOGUE_OWN_LIBRDKAFKA
    constexpr bool is_ours = true;
#else
    constexpr bool is_ours = false;
#endif
    return {rd_kafka_version_str(), static_cast<unsigned>(rd_kafka_version()), is_ours};
}

}  // namespace epilogue
