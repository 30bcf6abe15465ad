#include "bench/baselines/topic_reader.h"

#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>

namespace epilogue::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

TopicReader::TopicReader(const std::string& brokers, const std::string& topic, const std::string& group) {
    char why[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const char* const settings[][2] = {{"bootstrap.servers", brokers.c_str()},
                                       {"group.id", group.c_str()},
                                       {"auto.offset.reset", "earliest"},
                                       {"enable.auto.commit", "false"},
                                       {"fetch.message.max.bytes", "4194304"}};
    for (const auto& [name, value] : settings) rd_kafka_conf_set(conf, name, value, why, sizeof why);
    client_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_poll_set_consumer(client_);
    rd_kafka_topic_partition_list_t* topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic.c_str(), RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(client_, topics);
    rd_kafka_topic_partition_list_destroy(topics);
}

Message TopicReader::next() {
    constexpr int wait_ms = 60'000;
    for (;;) {
        Message message(rd_kafka_consumer_poll(client_, wait_ms), rd_kafka_message_destroy);
        if (!message) std::_Exit(1);
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        if (began_ == Clock::time_point()) began_ = Clock::now();
        return message;
    }
}

void tell_and_end(const TopicReader& reader, long events) {
    const std::chrono::duration<double> took = Clock::now() - reader.began();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("{\"events\": %ld, \"seconds\": %f, \"cpu_s\": %f, \"peak_mb\": %f}\n", events, took.count(),
                seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
                static_cast<double>(used.ru_maxrss) / 1024);
    std::fflush(stdout);
    std::_Exit(0);
}

}  // namespace epilogue::bench
