// What consumer and producer share: configuration and handles of librdkafka.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <librdkafka/rdkafka.h>

#include "base/io/kafka.h"
#include "base/io/kafka_hooks.h"

namespace epilogue {

template <class T, void (*destroy)(T*)>
struct Destroyer {
    void operator()(T* handle) const { destroy(handle); }
};
template <class T, void (*destroy)(T*)>
using Handle = std::unique_ptr<T, Destroyer<T, destroy>>;

using KafkaConf = Handle<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using KafkaTopicList = Handle<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using KafkaClient = Handle<rd_kafka_t, rd_kafka_destroy>;

/// A configuration of `defaults` and then the settings' own properties. Errors: Remedy::fatal, a property
/// that librdkafka refuses.
Result<KafkaConf> kafka_conf(const KafkaSettings& settings,
                             const std::map<std::string, std::string>& defaults);

/// The same for clients that read the topic: all of them must agree on what a record is.
Result<KafkaConf> kafka_reading_conf(const KafkaSettings& settings,
                                     const std::map<std::string, std::string>& defaults);

/// The configuration of a group's member, and of a producer.
Result<KafkaConf> group_member_conf(const KafkaSettings& settings, const std::string& group);
Result<KafkaConf> producer_conf(const KafkaSettings& settings);

/// A client of `type`; takes the configuration over. The hooks outlive it. Errors: Remedy::fatal.
Result<KafkaClient> kafka_client(rd_kafka_type_t type, KafkaConf conf, KafkaHooks& hooks);

/// Serves what is waiting for the client's callbacks: for clients that are not polled.
void serve_callbacks(rd_kafka_t* client);

/// The record's timestamp; the epoch when it has none.
Instant timestamp_of(const rd_kafka_message_t& message);

/// The cluster's id as the broker tells it within `wait`; "" when it does not.
std::string cluster_id_of(rd_kafka_t* client, std::chrono::milliseconds wait);

/// The topic's id as `kafka-topics --describe` shows it; "" when the broker does not tell it within `wait`,
/// knows no ids (before 2.8), or the client does not (librdkafka before 2.3).
std::string topic_id_of(rd_kafka_t* client, const std::string& topic, std::chrono::milliseconds wait);

/// The error as ours: retryable, with librdkafka's number and text.
Failure kafka_failure(rd_kafka_resp_err_t error, const std::string& doing);

}  // namespace epilogue
