#include "base/ids.h"
#include "base/io/kafka_conf.h"

namespace epilogue {

struct KafkaReader::SimpleConsumer {
    explicit SimpleConsumer(KafkaTokenSource token) : hooks(std::move(token)) {}
    KafkaHooks hooks;
    KafkaClient client;
    Handle<rd_kafka_topic_t, rd_kafka_topic_destroy> topic;  // ends before its client
};

KafkaReader::KafkaReader(std::unique_ptr<SimpleConsumer> consumer) : consumer_(std::move(consumer)) {}
KafkaReader::~KafkaReader() = default;

Result<std::unique_ptr<KafkaReader>> KafkaReader::open(const KafkaSettings& settings,
                                                       const std::string& topic) {
    // One record is wanted: little is fetched, and nothing ahead.
    TRY(auto conf, kafka_reading_conf(settings, {{"fetch.message.max.bytes", "65536"},
                                                 {"fetch.wait.max.ms", "10"},
                                                 {"queued.max.messages.kbytes", "1024"}}));
    auto consumer = std::make_unique<SimpleConsumer>(settings.token);
    TRY(consumer->client, kafka_client(RD_KAFKA_CONSUMER, std::move(conf), consumer->hooks));
    consumer->topic.reset(rd_kafka_topic_new(consumer->client.get(), topic.c_str(), nullptr));
    return std::unique_ptr<KafkaReader>(new KafkaReader(std::move(consumer)));
}

Result<std::optional<RecordFingerprint>> KafkaReader::record_at(int partition, Offset offset,
                                                                std::chrono::milliseconds wait) {
    rd_kafka_topic_t* const topic = consumer_->topic.get();
    if (rd_kafka_consume_start(topic, partition, offset.value) != 0)
        return kafka_failure(rd_kafka_last_error(), "reading one record");
    const Handle<rd_kafka_message_t, rd_kafka_message_destroy> message(
        rd_kafka_consume(topic, partition, static_cast<int>(wait.count())));
    rd_kafka_consume_stop(topic, partition);
    if (!message) {
        serve_callbacks(consumer_->client.get());
        return retryable(consumer_->hooks.with_reason("Kafka: reading one record: no answer"));
    }
    switch (message->err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            break;
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            return std::optional<RecordFingerprint>();
        default:
            return kafka_failure(message->err, "reading one record");
    }
    if (message->offset != offset.value) return std::optional<RecordFingerprint>();
    const std::string_view value{static_cast<const char*>(message->payload), message->len};
    return std::optional(RecordFingerprint{offset, crc32_of(value), timestamp_of(*message)});
}

}  // namespace epilogue
