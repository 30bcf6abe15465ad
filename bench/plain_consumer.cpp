// Baseline: reads a whole topic with librdkafka as it is and does nothing with it. One line of JSON when it
// is through: epilogue-bench-plain BROKERS TOPIC EVENTS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <librdkafka/rdkafka.h>
#include <sys/resource.h>

namespace {

double seconds_of(timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 64;
    const std::string topic = argv[2];
    const long wanted = std::atol(argv[3]);
    char why[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const char* const settings[][2] = {{"bootstrap.servers", argv[1]},
                                       {"group.id", "plain"},
                                       {"auto.offset.reset", "earliest"},
                                       {"enable.auto.commit", "false"},
                                       {"fetch.message.max.bytes", "4194304"}};
    for (const auto& [name, value] : settings) rd_kafka_conf_set(conf, name, value, why, sizeof why);
    rd_kafka_t* client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t* topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic.c_str(), RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(client, topics);

    using Clock = std::chrono::steady_clock;
    Clock::time_point began;
    std::size_t bytes = 0;
    for (long events = 0; events < wanted;) {
        constexpr int wait_ms = 60000;
        rd_kafka_message_t* message = rd_kafka_consumer_poll(client, wait_ms);
        if (message == nullptr) return 1;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (events++ == 0) began = Clock::now();
            bytes += message->len;
        }
        rd_kafka_message_destroy(message);
    }
    const std::chrono::duration<double> took = Clock::now() - began;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("{\"events\": %ld, \"bytes\": %zu, \"seconds\": %f, \"cpu_s\": %f, \"peak_mb\": %f}\n",
                wanted, bytes, took.count(), seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
                static_cast<double>(used.ru_maxrss) / 1024);
    std::fflush(stdout);
    std::_Exit(0);  // leaving the group is no part of it
}
