// What becomes of a client when brokers go and come back: faults of librdkafka that ops/librdkafka/patches
// mends.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#define BOOST_TEST_MODULE base_io_kafka_brokers
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/endian/conversion.hpp>
#include <boost/test/unit_test.hpp>

#include "base/io/kafka.h"
#include "base/io/kafka_conf.h"
#include "base/io/kafka_rights.h"
#include "base/process/ports.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_handles.h"

namespace {

using namespace epilogue;
using testing::eventually;
namespace asio = boost::asio;
using asio::ip::tcp;

/// Long: librdkafka reckons the room that an answer takes by its length, and short ones do not fit.
constexpr std::string_view topic = "the-events-of-all-conversations-of-all-agents";

/// Appends what Kafka's protocol writes: numbers with the highest byte first, texts behind their length.
class Message {
  public:
    Message& i16(std::int16_t number) { return bytes(boost::endian::native_to_big(number)); }
    Message& i32(std::int32_t number) { return bytes(boost::endian::native_to_big(number)); }
    Message& text(std::string_view text) {
        i16(static_cast<std::int16_t>(text.size()));
        sent_ += text;
        return *this;
    }
    const std::string& sent() const { return sent_; }

  private:
    template <class Number>
    Message& bytes(Number number) {
        const auto raw = std::bit_cast<std::array<char, sizeof number>>(number);
        sent_.append(raw.data(), raw.size());
        return *this;
    }

    std::string sent_;
};

/// A cluster of two brokers that answers Metadata and FindCoordinator requests of version 0
/// (https://kafka.apache.org/protocol#The_Messages_Metadata) and nothing else. The first is there from the
/// beginning; the second, the coordinator of every group, is not until it is begun. While the first is
/// `starting` it is in the state of one that KRaft has not let in yet: it has read the topics, and no broker
/// is alive.
class FakeCluster {
  public:
    FakeCluster() : first_(io_, loopback(0)), second_port_(process::free_port()) {
        asio::co_spawn(io_, accept(first_), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~FakeCluster() {
        io_.stop();
        thread_.join();
    }
    FakeCluster(const FakeCluster&) = delete;
    FakeCluster& operator=(const FakeCluster&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(first_.local_endpoint().port()); }
    int empty_answers() const { return empty_answers_; }
    int coordinator_answers() const { return coordinator_answers_; }
    int connections() const { return connections_; }
    void set_starting(bool starting) { starting_ = starting; }
    void begin_second() {
        asio::post(io_, [this] {
            second_.emplace(io_, loopback(second_port_));
            asio::co_spawn(io_, accept(*second_), asio::detached);
        });
    }

  private:
    static tcp::endpoint loopback(unsigned short port) { return {asio::ip::address_v4::loopback(), port}; }

    asio::awaitable<void> accept(tcp::acceptor& acceptor) {
        for (;;) {
            tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
            ++connections_;
            asio::co_spawn(io_, serve(std::move(client)), asio::detached);
        }
    }

    asio::awaitable<void> serve(tcp::socket client) {
        try {
            for (;;) {
                std::int32_t size = 0;
                co_await asio::async_read(client, asio::buffer(&size, sizeof size), asio::use_awaitable);
                std::string request(static_cast<std::size_t>(boost::endian::big_to_native(size)), '\0');
                co_await asio::async_read(client, asio::buffer(request), asio::use_awaitable);
                constexpr std::size_t correlation_at = 4;  // behind the request's key and version
                constexpr char find_coordinator = 10;
                const std::string answer = request.substr(correlation_at, 4) +
                                           (request.at(1) == find_coordinator ? coordinator() : metadata());
                const auto length = boost::endian::native_to_big(static_cast<std::int32_t>(answer.size()));
                co_await asio::async_write(client, asio::buffer(&length, sizeof length), asio::use_awaitable);
                co_await asio::async_write(client, asio::buffer(answer), asio::use_awaitable);
            }
        } catch (const std::exception&) {
            // The client has gone.
        }
    }

    std::string metadata() {
        constexpr std::int16_t leader_not_available = 5;
        Message message;
        if (starting_) {
            ++empty_answers_;
            return message.i32(0).i32(1).i16(leader_not_available).text(topic).i32(0).sent();
        }
        message.i32(2);
        message.i32(1).text("127.0.0.1").i32(first_.local_endpoint().port());
        message.i32(2).text("127.0.0.1").i32(second_port_);
        return message.i32(1)
            .i16(0)
            .text(topic)
            .i32(1)
            .i16(0)
            .i32(0)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(1)
            .sent();
    }

    std::string coordinator() {
        ++coordinator_answers_;
        return Message().i16(0).i32(2).text("127.0.0.1").i32(second_port_).sent();
    }

    asio::io_context io_;
    tcp::acceptor first_;
    const unsigned short second_port_;
    std::optional<tcp::acceptor> second_;
    std::atomic<bool> starting_ = false;
    std::atomic<int> empty_answers_ = 0;
    std::atomic<int> coordinator_answers_ = 0;
    std::atomic<int> connections_ = 0;
    std::thread thread_;
};

testing::KafkaClient client_of(const FakeCluster& cluster) {
    auto conf = kafka_conf({.brokers = cluster.address(),
                            .client_id = "test",
                            .properties = {{"api.version.request", "false"},
                                           {"broker.version.fallback", "0.9.0"},
                                           {"reconnect.backoff.ms", "50"},
                                           {"reconnect.backoff.max.ms", "100"}}},
                           {});
    BOOST_REQUIRE(conf.has_value());
    std::array<char, 512> why{};
    testing::KafkaClient client(rd_kafka_new(RD_KAFKA_PRODUCER, conf->release(), why.data(), why.size()));
    BOOST_REQUIRE_MESSAGE(client, why.data());
    return client;
}

/// True when the brokers are named to `client` within half a second.
bool knows_brokers(rd_kafka_t* client) {
    const rd_kafka_metadata_t* metadata = nullptr;
    if (rd_kafka_metadata(client, 1, nullptr, &metadata, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> owned(
        metadata, rd_kafka_metadata_destroy);
    return metadata->broker_cnt == 2;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_broker_that_was_not_let_in_yet_is_not_forgotten) {
    FakeCluster cluster;
    const auto client = client_of(cluster);
    eventually("the brokers are known", [&] { return knows_brokers(client.get()); });

    cluster.set_starting(true);
    eventually("answers without brokers have come", [&] {
        knows_brokers(client.get());
        return cluster.empty_answers() >= 2;
    });
    cluster.set_starting(false);

    BOOST_CHECK_NO_THROW(eventually("the brokers are known again", testing::Milliseconds(30'000),
                                    [&] { return knows_brokers(client.get()); }));
}

// Without the patch an assertion ends the process.
BOOST_AUTO_TEST_CASE(a_coordinator_that_comes_after_a_question_has_timed_out_does_no_harm) {
    FakeCluster cluster;
    const auto client = client_of(cluster);
    eventually("the brokers are known", [&] { return knows_brokers(client.get()); });

    eventually("the coordinator has been looked for", [&] {
        kafka_rights(client.get(), {"", "group", ""}, std::chrono::milliseconds(500));
        return cluster.coordinator_answers() >= 1;
    });
    const int before = cluster.connections();
    cluster.begin_second();
    eventually("the client has reached the coordinator", [&] { return cluster.connections() > before; });

    BOOST_TEST(eventually("the client goes on", [&] { return knows_brokers(client.get()); }));
}
