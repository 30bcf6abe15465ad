// Which brokers a client still knows after they have come back.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
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
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/endian/conversion.hpp>
#include <boost/test/unit_test.hpp>

#include "base/io/kafka.h"
#include "base/io/kafka_conf.h"
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

/// A broker that answers Metadata requests of version 0
/// (https://kafka.apache.org/protocol#The_Messages_Metadata) and nothing else. While it is `starting` it is
/// in the state of one that KRaft has not let in yet: it has read the topics, and no broker is alive.
class StartingBroker {
  public:
    StartingBroker() : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~StartingBroker() {
        io_.stop();
        thread_.join();
    }
    StartingBroker(const StartingBroker&) = delete;
    StartingBroker& operator=(const StartingBroker&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
    int empty_answers() const { return empty_answers_; }
    void set_starting(bool starting) { starting_ = starting; }

  private:
    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket client = co_await acceptor_.async_accept(asio::use_awaitable);
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
                const std::string answer = request.substr(correlation_at, 4) + metadata();
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
            message.i32(0);
        } else {
            message.i32(1).i32(1).text("127.0.0.1").i32(acceptor_.local_endpoint().port());
        }
        message.i32(1).i16(starting_ ? leader_not_available : std::int16_t{0}).text(topic);
        if (starting_) return message.i32(0).sent();
        return message.i32(1).i16(0).i32(0).i32(1).i32(1).i32(1).i32(1).i32(1).sent();
    }

    asio::io_context io_;
    tcp::acceptor acceptor_;
    std::atomic<bool> starting_ = false;
    std::atomic<int> empty_answers_ = 0;
    std::thread thread_;
};

/// True when a broker is named to `client` within half a second.
bool is_told_a_broker(rd_kafka_t* client) {
    const rd_kafka_metadata_t* metadata = nullptr;
    if (rd_kafka_metadata(client, 1, nullptr, &metadata, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    const std::unique_ptr<const rd_kafka_metadata_t, void (*)(const rd_kafka_metadata_t*)> owned(
        metadata, rd_kafka_metadata_destroy);
    return metadata->broker_cnt == 1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_broker_that_was_not_let_in_yet_is_not_forgotten) {
    StartingBroker broker;
    auto conf = kafka_conf({.brokers = broker.address(),
                            .client_id = "test",
                            .properties = {{"api.version.request", "false"},
                                           {"broker.version.fallback", "0.9.0"},
                                           {"reconnect.backoff.max.ms", "100"}}},
                           {});
    BOOST_REQUIRE(conf.has_value());
    std::array<char, 512> why{};
    const testing::KafkaClient client(
        rd_kafka_new(RD_KAFKA_PRODUCER, conf->release(), why.data(), why.size()));
    BOOST_REQUIRE_MESSAGE(client, why.data());
    eventually("the broker is known", [&] { return is_told_a_broker(client.get()); });

    broker.set_starting(true);
    eventually("an answer without brokers has come", [&] {
        is_told_a_broker(client.get());
        return broker.empty_answers() >= 2;
    });
    broker.set_starting(false);

    BOOST_CHECK_NO_THROW(eventually("the broker is known again", testing::Milliseconds(30'000),
                                    [&] { return is_told_a_broker(client.get()); }));
}
