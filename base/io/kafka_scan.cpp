#include "base/io/kafka_scan.h"

#include <algorithm>
#include <utility>

#include "base/io/kafka_conf.h"
#include "base/io/kafka_record.h"

namespace epilogue {
namespace {

int milliseconds_until(KafkaScan::Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - KafkaScan::Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 1));
}

}  // namespace

struct KafkaScan::Client {
    explicit Client(const KafkaSettings& settings) : brokers(settings.brokers), hooks(settings.token) {}
    const std::string brokers;
    KafkaHooks hooks;
    KafkaClient client;
    Handle<rd_kafka_topic_t, rd_kafka_topic_destroy> topic;  // ends before its client

    /// What is wrong with the connection, where no answer came.
    Failure away(rd_kafka_resp_err_t error) {
        serve_callbacks(client.get());
        const std::string why = hooks.last_failure();
        return retryable(
            "Kafka: no broker answers at " + brokers + ": " + (why.empty() ? rd_kafka_err2str(error) : why),
            static_cast<int>(error));
    }
    const char* topic_name() const { return rd_kafka_topic_name(topic.get()); }
};

KafkaScan::KafkaScan(std::unique_ptr<Client> client) : client_(std::move(client)) {}
KafkaScan::~KafkaScan() = default;

Result<std::unique_ptr<KafkaScan>> KafkaScan::open(const KafkaSettings& settings, const std::string& topic) {
    TRY(auto conf, kafka_reading_conf(settings, {{"fetch.wait.max.ms", "10"},
                                                 {"fetch.message.max.bytes", "4194304"},
                                                 {"queued.max.messages.kbytes", "32768"}}));
    auto client = std::make_unique<Client>(settings);
    TRY(client->client, kafka_client(RD_KAFKA_CONSUMER, std::move(conf), client->hooks));
    client->topic.reset(rd_kafka_topic_new(client->client.get(), topic.c_str(), nullptr));
    return std::unique_ptr<KafkaScan>(new KafkaScan(std::move(client)));
}

Result<int> KafkaScan::partitions(Clock::time_point until) {
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error =
        rd_kafka_metadata(client_->client.get(), 0, client_->topic.get(), &answer, milliseconds_until(until));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return client_->away(error);
    const Handle<const rd_kafka_metadata_t, rd_kafka_metadata_destroy> metadata(answer);
    if (answer->topic_cnt != 1 || answer->topics[0].partition_cnt == 0)
        return fatal(std::string("[kafka] topic: there is no topic \"") + client_->topic_name() +
                     "\", or it may not be read");
    return answer->topics[0].partition_cnt;
}

Result<ScannedPart> KafkaScan::stretch_of(int partition, std::optional<Instant> since,
                                          Clock::time_point until) {
    rd_kafka_t* const client = client_->client.get();
    ScannedPart part;
    part.partition = partition;
    auto error = rd_kafka_query_watermark_offsets(client, client_->topic_name(), partition, &part.first,
                                                  &part.end, milliseconds_until(until));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return client_->away(error);
    part.from = part.first;
    if (!since) return part;
    const KafkaTopicList wanted(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(wanted.get(), client_->topic_name(), partition)->offset =
        std::chrono::floor<std::chrono::milliseconds>(since->time_since_epoch()).count();
    error = rd_kafka_offsets_for_times(client, wanted.get(), milliseconds_until(until));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return client_->away(error);
    // All that is there is older: then the answer is the end, which librdkafka spells in its own way.
    const std::int64_t found = wanted->elems[0].offset;
    part.from = found < 0 ? part.end : std::clamp(found, part.first, part.end);
    return part;
}

Result<ScannedPart> KafkaScan::read(int partition, std::optional<Instant> since, Clock::time_point until,
                                    const std::function<bool(const RecordView&)>& show) {
    TRY(ScannedPart part, stretch_of(partition, since, until));
    part.to = part.from;
    if (part.is_whole()) return part;
    rd_kafka_topic_t* const topic = client_->topic.get();
    if (rd_kafka_consume_start(topic, partition, part.from) != 0)
        return kafka_failure(rd_kafka_last_error(), "reading a partition");
    rd_kafka_resp_err_t fault = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool goes_on = true;
    while (goes_on && !part.is_whole() && Clock::now() < until) {
        const Handle<rd_kafka_message_t, rd_kafka_message_destroy> message(
            rd_kafka_consume(topic, partition, milliseconds_until(until)));
        if (!message) continue;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            part.to = part.end;  // the last ones were no records of ours: of a transaction, or removed
        } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            fault = message->err;
            break;
        } else {
            if (message->offset < part.end) goes_on = show(view_of(*message));
            part.to = std::min(message->offset + 1, part.end);
        }
    }
    rd_kafka_consume_stop(topic, partition);
    if (part.to == part.from && fault != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_failure(fault, "reading a partition");
    return part;
}

}  // namespace epilogue
