// A member of a group on librdkafka's own imitation of a broker, which refuses it when it is told to.
#define BOOST_TEST_MODULE base_io_kafka_consumer
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/io/kafka.h"
#include "base/io/kafka_conf.h"
#include "tests/support/eventually.h"

namespace {

using namespace epilogue;
using namespace std::chrono_literals;
using testing::eventually;

constexpr int partitions = 4;
constexpr const char* topic = "events";
constexpr std::int16_t heartbeat = 12;  ///< its number among Kafka's requests

class ImitatedBroker {
  public:
    ImitatedBroker() { rd_kafka_mock_topic_create(cluster_.get(), topic, partitions, 1); }
    KafkaSettings settings(std::map<std::string, std::string> properties) const {
        return {.brokers = rd_kafka_mock_cluster_bootstraps(cluster_.get()),
                .client_id = "worker",
                .properties = std::move(properties)};
    }
    void answer_a_heartbeat(rd_kafka_resp_err_t with) const {
        rd_kafka_mock_push_request_errors(cluster_.get(), heartbeat, 1, with);
    }

  private:
    using Cluster = Handle<rd_kafka_mock_cluster_t, rd_kafka_mock_cluster_destroy>;
    const KafkaClient client_{rd_kafka_new(RD_KAFKA_PRODUCER, nullptr, nullptr, 0)};
    const Cluster cluster_{rd_kafka_mock_cluster_new(client_.get(), 1)};
};

/// What a member's listener was told, and the member.
class Member {
  public:
    explicit Member(KafkaSettings settings) : consumer_(std::move(settings), topic, "workers") {
        const auto joined = consumer_.join({[this](const auto& coming) { assigned(coming); },
                                            [this](const auto& going, bool lost) { revoked(going, lost); }});
        BOOST_REQUIRE(joined.has_value());
    }
    ~Member() { consumer_.close(5s); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// After one more turn of its poll thread.
    bool has_all() {
        consumer_.poll(50ms);
        return held_.size() == partitions;
    }
    bool has_lost_all() {
        consumer_.poll(50ms);
        return held_.empty() && was_lost_;
    }
    /// "" when it is a member.
    std::string why_not() {
        const auto good = consumer_.check(200ms);  // the imitation knows no question for rights
        return good ? "" : good.error().text;
    }
    KafkaConsumer& consumer() { return consumer_; }

  private:
    void assigned(const std::vector<int>& coming) {
        BOOST_TEST(held_.empty(), "others were still held");
        held_.insert(coming.begin(), coming.end());
    }
    void revoked(const std::vector<int>& going, bool lost) {
        for (const int one : going) held_.erase(one);
        was_lost_ = lost;
    }

    KafkaConsumer consumer_;
    std::set<int> held_;
    bool was_lost_ = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_that_was_fenced_for_good_loses_all_says_why_and_joins_again) {
    const ImitatedBroker broker;
    Member member(broker.settings({{"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "200"}}));
    eventually("it has all", [&] { return member.has_all(); });
    BOOST_TEST(member.why_not() == "");

    broker.answer_a_heartbeat(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
    eventually("it has lost all and says why",
               [&] { return member.has_lost_all() && !member.why_not().empty(); });
    BOOST_TEST(member.why_not().starts_with("put out of the consumer group workers: "), member.why_not());
    BOOST_TEST(member.why_not().find("group.instance.id") != std::string::npos, member.why_not());

    eventually("it has all again", [&] { return member.has_all(); });
    BOOST_TEST(member.why_not() == "");
    BOOST_TEST(member.consumer().commit({{0, NextOffset{0}}}, 5s).has_value());
}

#if RD_KAFKA_VERSION >= 0x020c0000  // before that it was only tried out
BOOST_AUTO_TEST_CASE(under_the_consumer_protocol_what_is_the_brokers_to_say_is_refused_and_nothing_else) {
    const auto tried = [](std::map<std::string, std::string> more) {
        more.emplace("group.protocol", "consumer");
        return try_kafka_settings({.brokers = "", .client_id = "worker", .properties = std::move(more)});
    };
    BOOST_TEST(tried({}).has_value());
    BOOST_TEST(tried({{"group.instance.id", "one"}, {"group.remote.assignor", "uniform"}}).has_value());
    for (const std::string name : {"session.timeout.ms", "heartbeat.interval.ms",
                                   "partition.assignment.strategy", "group.protocol.type"}) {
        const auto refused = tried({{name, name.ends_with(".ms")    ? "9000"
                                           : name.ends_with("type") ? "consumer"
                                                                    : "range"}});
        BOOST_REQUIRE(!refused.has_value());
        BOOST_TEST((refused.error().remedy == Remedy::fatal));
        BOOST_TEST(refused.error().text.find(name) != std::string::npos, refused.error().text);
    }
}
#endif
