#include "base/io/kafka_conf.h"
#include "base/io/kafka_send.h"

namespace epilogue {

struct KafkaProducer::ProducerClient {
    ProducerClient(KafkaTokenSource token, std::string produces_to)
        : hooks(std::move(token), this), topic(std::move(produces_to)) {}

    KafkaHooks hooks;
    std::string topic;
    KafkaClient client;
    std::int64_t acknowledged = 0;
    std::int64_t refused = 0;
    std::string last_error;

    static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque) {
        auto& self = *KafkaHooks::owner_of<ProducerClient>(opaque);
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            ++self.acknowledged;
        } else {
            ++self.refused;
            self.last_error = why_not_delivered(client, message->err);
        }
    }
};

KafkaProducer::KafkaProducer(std::unique_ptr<ProducerClient> client) : client_(std::move(client)) {}
KafkaProducer::~KafkaProducer() = default;

Result<KafkaConf> producer_conf(const KafkaSettings& settings) {
    return kafka_conf(settings, {{"enable.idempotence", "true"},
                                 {"acks", "all"},
                                 {"partitioner", "murmur2_random"},
                                 {"linger.ms", "5"},
                                 {"message.max.bytes", std::to_string(max_kafka_record_bytes)},
                                 {"message.timeout.ms", "30000"}});
}

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::open(const KafkaSettings& settings,
                                                           const std::string& topic) {
    TRY(auto conf, producer_conf(settings));
    auto made = std::make_unique<ProducerClient>(settings.token, topic);
    rd_kafka_conf_set_dr_msg_cb(conf.get(), &ProducerClient::on_delivery);
    TRY(made->client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf), made->hooks));
    return std::unique_ptr<KafkaProducer>(new KafkaProducer(std::move(made)));
}

Result<void> KafkaProducer::produce(std::string_view key, std::string_view value,
                                    const std::vector<std::pair<std::string, std::string>>& headers) {
    rd_kafka_t* client = client_->client.get();
    const KafkaSend record{client_->topic, key, value, headers};
    while (true) {
        const KafkaSendError error = kafka_send(client, record);
        if (!error) {
            take_answers();
            return {};
        }
        const auto code = rd_kafka_error_code(error.get());
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return kafka_failure(code, "produce");
        constexpr int wait_ms = 100;
        rd_kafka_poll(client, wait_ms);
    }
}

void KafkaProducer::take_answers() {
    rd_kafka_poll(client_->client.get(), 0);
}

bool KafkaProducer::flush(std::chrono::milliseconds wait) {
    return rd_kafka_flush(client_->client.get(), static_cast<int>(wait.count())) ==
           RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::int64_t KafkaProducer::acknowledged() const {
    return client_->acknowledged;
}
std::int64_t KafkaProducer::refused() const {
    return client_->refused;
}
std::string KafkaProducer::last_error() const {
    return client_->last_error;
}

int partition_of_key(std::string_view key, int partitions) {
    return rd_kafka_msg_partitioner_murmur2(nullptr, key.data(), key.size(), partitions, nullptr, nullptr);
}

}  // namespace epilogue
