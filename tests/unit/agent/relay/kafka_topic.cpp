// The bounds of the topic over Kafka, with a broker that is not there. With one: tests/integration.
#define BOOST_TEST_MODULE kafka_topic
#include "agent/relay/kafka_topic.h"

#include <atomic>
#include <future>
#include <thread>

#include <boost/test/unit_test.hpp>

#include "base/process/ports.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::relay;
using testing::eventually;

namespace {

constexpr std::size_t max_bytes = 1'000'000;

std::unique_ptr<KafkaTopic> unreachable(std::chrono::milliseconds delivered_within) {
    KafkaSettings settings;
    settings.brokers = "127.0.0.1:" + std::to_string(process::free_port());
    settings.client_id = "test";
    KafkaTopicRules rules;
    rules.topic = "t";
    rules.max_bytes = max_bytes;
    rules.delivered_within = delivered_within;
    return std::move(*KafkaTopic::open(settings, std::move(rules)));
}

TopicRecord record_of(std::size_t bytes) {
    return {ConversationId("c"), std::string(bytes, 'x'), {{"source", "webhook"}}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_not_acknowledged_in_time_is_given_up_and_its_bytes_are_free_again) {
    const auto topic = unreachable(std::chrono::milliseconds(300));
    std::promise<Result<void>> settled;
    BOOST_TEST(
        topic->produce(record_of(1000), [&](Result<void> answer) { settled.set_value(std::move(answer)); }));
    BOOST_TEST(topic->bytes_under_way() > 1000U);
    const auto answer = settled.get_future().get();
    BOOST_TEST(!answer.has_value());
    BOOST_TEST(answer.error().text.starts_with("Kafka: "), answer.error().text);
    eventually("its bytes are free", [&] { return topic->bytes_under_way() == 0; });
    BOOST_TEST(topic->oldest_under_way().count() == 0);
}

BOOST_AUTO_TEST_CASE(as_many_bytes_are_taken_as_there_may_be_and_no_more) {
    std::atomic<int> settled = 0;
    int taken = 0;
    {
        const auto topic = unreachable(std::chrono::seconds(600));
        while (topic->produce(record_of(10'000), [&](const auto&) { ++settled; })) ++taken;
        BOOST_TEST(taken > 90);
        BOOST_TEST(topic->bytes_under_way() <= max_bytes);
        BOOST_TEST(topic->oldest_under_way().count() > 0);
        BOOST_TEST(settled == 0);
    }
    // Each is told of once, at the latest when the topic ends.
    BOOST_TEST(settled == taken);
}

BOOST_AUTO_TEST_CASE(a_record_that_is_larger_than_the_room_is_taken_when_half_of_it_is_free) {
    const auto topic = unreachable(std::chrono::seconds(600));
    BOOST_TEST(topic->produce(record_of(2 * max_bytes), [](const auto&) {}));
    BOOST_TEST(!topic->produce(record_of(1), [](const auto&) {}));
}

BOOST_AUTO_TEST_CASE(who_found_no_room_is_called_on_the_topics_thread_when_there_is_some) {
    const auto topic = unreachable(std::chrono::milliseconds(300));
    while (topic->produce(record_of(10'000), [](const auto&) {})) {
    }
    for (int i = 0; i < 2; ++i) {  // the second time there is room already
        std::promise<std::thread::id> called;
        topic->when_room([&] { called.set_value(std::this_thread::get_id()); });
        BOOST_TEST((called.get_future().get() != std::this_thread::get_id()));
        BOOST_TEST(topic->bytes_under_way() <= max_bytes / 2);
    }
}
