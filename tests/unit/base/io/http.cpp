#define BOOST_TEST_MODULE http
#include "base/io/http.h"

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <boost/test/unit_test.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ops/fake_platform/fake_platform_server.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

const std::string comments = "/github/repos/o/r/issues/1/comments";

HttpRequest request_to(const std::string& url, const std::string& method = "GET",
                       const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.headers = {"Authorization: Bearer t", "User-Agent: epilogue/test",
                       "Content-Type: application/json"};
    request.body = body;
    return request;
}

HttpRequest post_to(const FakePlatformServer& platform) {
    return request_to(platform.url(comments), "POST", R"({"body":"hello"})");
}

HttpAnswer send(const HttpRequest& request) {
    return HttpClient().send(request);
}

/// A socket that listens and never accepts: the kernel takes as many connections as the backlog has room for.
class SilentPort {
  public:
    explicit SilentPort(int backlog) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        if (::bind(socket_, as_any(address), size) != 0 || ::listen(socket_, backlog) != 0 ||
            ::getsockname(socket_, as_any(address), &size) != 0) {
            throw std::runtime_error("no silent port");
        }
        port_ = ntohs(address.sin_port);
    }
    ~SilentPort() {
        for (const int filler : fillers_) ::close(filler);
        ::close(socket_);
    }
    SilentPort(const SilentPort&) = delete;
    SilentPort& operator=(const SilentPort&) = delete;

    /// Takes all room of the backlog, so that the next connection is never established.
    void fill() {
        for (int count = 0; count < 8; ++count) {
            sockaddr_in address = loopback(port_);
            fillers_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
            static_cast<void>(::connect(fillers_.back(), as_any(address), sizeof address));
        }
    }
    int descriptor() const { return socket_; }
    std::string url(const std::string& scheme) const {
        return scheme + "://127.0.0.1:" + std::to_string(port_) + "/";
    }

  private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }
    static sockaddr* as_any(sockaddr_in& address) {
        return static_cast<sockaddr*>(static_cast<void*>(&address));
    }

    int socket_;
    std::uint16_t port_ = 0;
    std::vector<int> fillers_;
};

/// A server that answers its one request with a byte of the body every 20 ms, 200 of them.
class TricklingServer {
  public:
    TricklingServer() : listener_(0), thread_([this](const std::stop_token& stop) { serve(stop); }) {}
    std::string url() const { return listener_.url("http"); }

  private:
    void serve(const std::stop_token& stop) const {
        constexpr int bytes = 200;
        pollfd waiting{listener_.descriptor(), POLLIN, 0};
        ::poll(&waiting, 1, 10000);
        const int peer = ::accept(listener_.descriptor(), nullptr, nullptr);
        const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
        static_cast<void>(::send(peer, head.data(), head.size(), MSG_NOSIGNAL));
        pollfd hung_up{peer, POLLRDHUP, 0};
        for (int sent = 0; sent < bytes && !stop.stop_requested() && ::poll(&hung_up, 1, 20) == 0; ++sent)
            static_cast<void>(::send(peer, "x", 1, MSG_NOSIGNAL));
        ::close(peer);
    }

    SilentPort listener_;
    std::jthread thread_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_whole_answer_has_status_headers_and_body) {
    FakePlatformServer platform;
    const HttpAnswer answer = send(post_to(platform));
    BOOST_TEST((answer.outcome == HttpOutcome::answered));
    BOOST_TEST(answer.status == 201);
    BOOST_TEST(answer.headers.at("content-type") == "application/json; charset=utf-8");
    BOOST_TEST(answer.body.find("\"hello\"") != std::string::npos);
    BOOST_TEST(answer.cause == "");
    BOOST_TEST(platform.log().at(0).body == R"({"body":"hello"})");
}

BOOST_AUTO_TEST_CASE(a_refusal_by_status_is_an_answer) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"status","status":503,"headers":{"Retry-After":"7"},"answer":"later"}])");
    const HttpAnswer answer = send(post_to(platform));
    BOOST_TEST((answer.outcome == HttpOutcome::answered));
    BOOST_TEST(answer.status == 503);
    BOOST_TEST(answer.headers.at("retry-after") == "7");
    BOOST_TEST(answer.body == "later");
}

BOOST_AUTO_TEST_CASE(a_refused_connection_is_not_sent) {
    auto platform = std::make_unique<FakePlatformServer>();
    const HttpRequest request = post_to(*platform);
    platform.reset();
    const HttpAnswer answer = send(request);
    BOOST_TEST((answer.outcome == HttpOutcome::not_sent));
    BOOST_TEST(answer.cause != "");
}

BOOST_AUTO_TEST_CASE(a_deadline_while_connecting_is_not_sent) {
    SilentPort port(0);
    port.fill();
    HttpRequest request = request_to(port.url("http"), "POST", "x");
    request.timeout = 200ms;
    BOOST_TEST((send(request).outcome == HttpOutcome::not_sent));
}

BOOST_AUTO_TEST_CASE(a_deadline_in_the_tls_handshake_is_not_sent) {
    const SilentPort port(8);
    HttpRequest request = request_to(port.url("https"), "POST", "x");
    request.timeout = 200ms;
    BOOST_TEST((send(request).outcome == HttpOutcome::not_sent));
}

BOOST_AUTO_TEST_CASE(a_failed_tls_handshake_is_not_sent) {
    FakePlatformServer platform;
    const HttpAnswer answer =
        send(request_to("https://127.0.0.1:" + std::to_string(platform.port()) + comments, "POST", "x"));
    BOOST_TEST((answer.outcome == HttpOutcome::not_sent));
    BOOST_TEST(platform.counts().attempts == 0U);
}

BOOST_AUTO_TEST_CASE(another_protocol_is_not_sent) {
    BOOST_TEST((send(request_to("ftp://127.0.0.1/x")).outcome == HttpOutcome::not_sent));
    BOOST_TEST((send(request_to("file:///etc/hostname")).outcome == HttpOutcome::not_sent));
}

BOOST_AUTO_TEST_CASE(what_must_not_be_sent_is_not_sent) {
    FakePlatformServer platform;
    HttpRequest late = post_to(platform);
    late.timeout = 0ms;
    HttpRequest split = post_to(platform);
    split.headers.emplace_back("X-Name: a\r\nX-Other: b");
    HttpRequest odd = post_to(platform);
    odd.method = "POST /x";
    for (const HttpRequest& request : {late, split, odd}) {
        BOOST_TEST((send(request).outcome == HttpOutcome::not_sent));
    }
    BOOST_TEST(platform.counts().attempts == 0U);
}

BOOST_AUTO_TEST_CASE(a_hanging_server_is_uncertain_within_the_deadline) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"apply_then_hang"}])");
    HttpRequest request = post_to(platform);
    request.timeout = 300ms;
    const auto start = std::chrono::steady_clock::now();
    const HttpAnswer answer = send(request);
    BOOST_TEST((std::chrono::steady_clock::now() - start < 5s));
    BOOST_TEST((answer.outcome == HttpOutcome::uncertain));
    BOOST_TEST(answer.cause != "");
    BOOST_TEST(platform.counts().visible == 1U);
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_the_request_and_is_silent_is_uncertain) {
    const SilentPort port(8);
    HttpRequest request = request_to(port.url("http"), "POST", "x");
    request.timeout = 200ms;
    BOOST_TEST((send(request).outcome == HttpOutcome::uncertain));
}

BOOST_AUTO_TEST_CASE(a_request_that_is_stopped_ends_and_none_is_sent_after_it) {
    const SilentPort port(8);
    std::stop_source source;
    HttpRequest request = request_to(port.url("http"), "POST", "x");
    request.timeout = 1h;
    request.stop = source.get_token();
    std::thread stopping([&] {
        pollfd taken{port.descriptor(), POLLIN, 0};
        static_cast<void>(::poll(&taken, 1, -1));
        source.request_stop();
    });
    const HttpAnswer stopped = send(request);
    stopping.join();
    BOOST_TEST((stopped.outcome == HttpOutcome::uncertain));
    BOOST_TEST(stopped.cause == "stopped");
    BOOST_TEST(!stopped.timed_out);
    BOOST_TEST((send(request).outcome == HttpOutcome::not_sent));
    const FakePlatformServer platform;
    BOOST_TEST(send(request_to(platform.url(comments))).status == 200);
}

BOOST_AUTO_TEST_CASE(a_server_that_trickles_its_answer_is_given_up_at_the_deadline_of_the_whole) {
    const TricklingServer server;
    HttpRequest request = request_to(server.url());
    request.timeout = 500ms;
    const HttpAnswer answer = send(request);
    BOOST_TEST((answer.outcome == HttpOutcome::uncertain));
    BOOST_TEST(answer.timed_out);
    BOOST_TEST(answer.body.empty());
}

BOOST_AUTO_TEST_CASE(a_reset_is_uncertain_applied_or_not) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"reset"},{"do":"apply_then_reset"}])");
    BOOST_TEST((send(post_to(platform)).outcome == HttpOutcome::uncertain));
    BOOST_TEST(platform.counts().visible == 0U);
    BOOST_TEST((send(post_to(platform)).outcome == HttpOutcome::uncertain));
    BOOST_TEST(platform.counts().visible == 1U);
}

BOOST_AUTO_TEST_CASE(half_an_answer_is_uncertain_and_shows_nothing_of_it) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"half_answer"}])");
    const HttpAnswer answer = send(post_to(platform));
    BOOST_TEST((answer.outcome == HttpOutcome::uncertain));
    BOOST_TEST(answer.status == 0);
    BOOST_TEST(answer.body == "");
    BOOST_TEST(answer.headers.empty());
}

BOOST_AUTO_TEST_CASE(an_interim_status_is_no_answer) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"apply_then_status","status":101,"answer":""}])");
    HttpRequest request = post_to(platform);
    request.timeout = 500ms;
    BOOST_TEST((send(request).outcome == HttpOutcome::uncertain));
}

BOOST_AUTO_TEST_CASE(a_redirect_is_an_answer_and_not_followed) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"status","status":307,"headers":{"Location":"/github/user"}}])");
    const HttpAnswer answer = send(post_to(platform));
    BOOST_TEST((answer.outcome == HttpOutcome::answered));
    BOOST_TEST(answer.status == 307);
    BOOST_TEST(platform.log().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_body_beyond_the_cap_is_uncertain) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"status","status":200,"answer":"0123456789","times":2}])");
    HttpRequest request = post_to(platform);
    request.max_answer_bytes = 10;
    BOOST_TEST((send(request).outcome == HttpOutcome::answered));
    request.max_answer_bytes = 9;
    const HttpAnswer answer = send(request);
    BOOST_TEST((answer.outcome == HttpOutcome::uncertain));
    BOOST_TEST(answer.body == "");
    BOOST_TEST(answer.cause == "the answer is larger than 9 bytes");
}

BOOST_AUTO_TEST_CASE(header_fields_beyond_the_cap_are_dropped) {
    FakePlatformServer platform;
    const std::string long_value(60000, 'x');
    platform.rules(R"([{"do":"status","status":200,"headers":{"a":"1","b":")" + long_value + R"(","c":")" +
                   long_value + R"("}}])");
    const HttpAnswer answer = send(post_to(platform));
    BOOST_TEST((answer.outcome == HttpOutcome::answered));
    BOOST_TEST(answer.headers.at("a") == "1");
    BOOST_TEST(answer.headers.at("b").size() == long_value.size());
    BOOST_TEST(!answer.headers.contains("c"));
}

BOOST_AUTO_TEST_CASE(a_write_is_never_sent_twice_where_libcurl_would_send_a_read_twice) {
    FakePlatformServer platform;
    const HttpRequest read = request_to(platform.url(comments));
    // A read whose reused connection dies shows that the trap is real: two requests for one call.
    BOOST_TEST(send(read).status == 200);
    platform.rules(R"([{"do":"reset"}])");
    BOOST_TEST(send(read).status == 200);
    BOOST_TEST(platform.counts().lookups == 3U);
    for (const std::string method : {"POST", "DELETE", "PATCH", "PUT"}) {
        platform.reset();
        BOOST_TEST(send(read).status == 200);
        platform.rules(R"([{"do":"reset"}])");
        const HttpAnswer answer = send(request_to(platform.url(comments), method, R"({"body":"hello"})"));
        BOOST_TEST((answer.outcome == HttpOutcome::uncertain), method);
        BOOST_TEST(platform.log().size() == 2U, method);
    }
}

BOOST_AUTO_TEST_CASE(the_cause_does_not_show_the_query) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"reset","times":-1}])");
    HttpRequest request = post_to(platform);
    request.url += "?key=hush";
    BOOST_TEST(send(request).cause.find("hush") == std::string::npos);
    request.url = "http://127.0.0.1:99999/?key=hush";
    const HttpAnswer malformed = send(request);
    BOOST_TEST((malformed.outcome == HttpOutcome::not_sent));
    BOOST_TEST(malformed.cause.find("hush") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_proxy_of_the_environment_is_not_asked) {
    FakePlatformServer platform;
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    const HttpAnswer answer = send(post_to(platform));
    ::unsetenv("http_proxy");
    BOOST_TEST(answer.status == 201);
}

BOOST_AUTO_TEST_CASE(threads_share_one_client) {
    FakePlatformServer platform;
    const HttpClient client;
    std::vector<std::thread> threads;
    for (int count = 0; count < 8; ++count) {
        threads.emplace_back([&] {
            for (int n = 0; n < 10; ++n) client.send(post_to(platform));
        });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(platform.counts().attempts == 80U);
    BOOST_TEST(platform.counts().visible == 80U);
}
