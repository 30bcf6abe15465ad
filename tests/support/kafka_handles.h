// Owners of librdkafka's handles, for the harness's own .cpp files.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <librdkafka/rdkafka.h>

namespace epilogue::testing {

template <auto destroy>
struct KafkaDestroy {
    template <class T>
    void operator()(T* handle) const {
        destroy(handle);
    }
};
template <class T, auto destroy>
using KafkaHandle = std::unique_ptr<T, KafkaDestroy<destroy>>;

using KafkaClient = KafkaHandle<rd_kafka_t, rd_kafka_destroy>;
using KafkaPartitions = KafkaHandle<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using KafkaMessage = KafkaHandle<rd_kafka_message_t, rd_kafka_message_destroy>;
using KafkaQueue = KafkaHandle<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using KafkaEvent = KafkaHandle<rd_kafka_event_t, rd_kafka_event_destroy>;
using KafkaOptions = KafkaHandle<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;

[[noreturn]] inline void throw_kafka(const std::string& what, rd_kafka_resp_err_t error) {
    throw std::runtime_error(what + ": " + rd_kafka_err2str(error));
}

/// A client with these properties, and what else `conf` holds (it is taken over). Throws std::runtime_error
/// when librdkafka refuses one.
inline KafkaClient make_kafka_client(rd_kafka_type_t type,
                                     const std::map<std::string, std::string>& properties,
                                     rd_kafka_conf_t* conf = rd_kafka_conf_new()) {
    KafkaHandle<rd_kafka_conf_t, rd_kafka_conf_destroy> owned(conf);
    std::array<char, 512> why{};
    // As base/io/kafka_conf.cpp says; unknown to librdkafka before 2.11.
    rd_kafka_conf_set(conf, "metadata.recovery.strategy", "none", why.data(), why.size());
    for (const auto& [name, value] : properties)
        if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK)
            throw std::runtime_error(why.data());
    rd_kafka_conf_set_log_cb(conf, nullptr);  // brokers are killed on purpose here
    KafkaClient client(rd_kafka_new(type, conf, why.data(), why.size()));
    if (!client) throw std::runtime_error(why.data());
    static_cast<void>(owned.release());  // the client has it now
    return client;
}

}  // namespace epilogue::testing
