#include "ops/embedded_demo/embedded_broker.h"

#include <array>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/io/kafka_conf.h"

namespace epilogue::demo {
namespace {

using Cluster = Handle<rd_kafka_mock_cluster_t, rd_kafka_mock_cluster_destroy>;

}  // namespace

struct EmbeddedBroker::Handles {
    KafkaHooks hooks;
    KafkaClient client;  // its threads run the cluster, which is destroyed before it
    Cluster cluster;
};

EmbeddedBroker::EmbeddedBroker(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
EmbeddedBroker::~EmbeddedBroker() = default;

Result<std::unique_ptr<EmbeddedBroker>> EmbeddedBroker::start(const std::string& topic, int partitions) {
    KafkaConf conf(rd_kafka_conf_new());
    auto handles = std::make_unique<Handles>();
    TRY(handles->client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf), handles->hooks));
    constexpr int brokers = 1;
    constexpr int replicas = 1;
    handles->cluster.reset(rd_kafka_mock_cluster_new(handles->client.get(), brokers));
    if (!handles->cluster) return fatal("the embedded broker cannot be started");
    const auto created =
        rd_kafka_mock_topic_create(handles->cluster.get(), topic.c_str(), partitions, replicas);
    if (created != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(created, "creating topic " + topic);
    return std::unique_ptr<EmbeddedBroker>(new EmbeddedBroker(std::move(handles)));
}

std::string EmbeddedBroker::address() const {
    return rd_kafka_mock_cluster_bootstraps(handles_->cluster.get());
}

}  // namespace epilogue::demo
