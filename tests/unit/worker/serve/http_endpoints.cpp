#define BOOST_TEST_MODULE http_endpoints
#include "worker/serve/http_endpoints.h"

#include <atomic>
#include <deque>

#include <arpa/inet.h>
#include <boost/test/unit_test.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io/http.h"
#include "worker/serve/connection_gate.h"

using namespace epilogue;

namespace {

/// A client that says this and then neither sends nor reads.
class SlowClient {
  public:
    SlowClient(int port, const std::string& says) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const int little = 4096;
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto* to = reinterpret_cast<const sockaddr*>(&address);
        BOOST_REQUIRE(::connect(socket_, to, sizeof address) == 0);
        BOOST_REQUIRE(::send(socket_, says.data(), says.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(says.size()));
    }
    SlowClient(const SlowClient&) = delete;
    SlowClient& operator=(const SlowClient&) = delete;
    ~SlowClient() { ::close(socket_); }

  private:
    const int socket_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(openapi_json_is_served_whether_the_api_is_on_or_off) {
    const auto endpoints = HttpEndpoints::listen("127.0.0.1", 0,
                                                 {.metrics = [] { return std::string(); },
                                                  .missing = [] { return std::string(); },
                                                  .history = [] { return std::string(); },
                                                  .turning = [] { return true; }});
    BOOST_REQUIRE(endpoints.has_value());
    HttpRequest request;
    request.url = "http://127.0.0.1:" + std::to_string((*endpoints)->port()) + "/openapi.json";
    const auto answer = HttpClient().send(request);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.body.find(R"("openapi": "3.1.0")") != std::string::npos);
    BOOST_TEST(answer.body.ends_with("}\n"));
}

BOOST_AUTO_TEST_CASE(healthz_and_its_other_names_are_503_while_the_loop_does_not_turn) {
    std::atomic<bool> turning = true;
    const auto endpoints = HttpEndpoints::listen("127.0.0.1", 0,
                                                 {.metrics = [] { return std::string(); },
                                                  .missing = [] { return std::string(); },
                                                  .history = [] { return std::string(); },
                                                  .turning = [&turning] { return turning.load(); }});
    BOOST_REQUIRE(endpoints.has_value());
    const auto status_of = [&](const std::string& path) {
        HttpRequest request;
        request.url = "http://127.0.0.1:" + std::to_string((*endpoints)->port()) + path;
        return HttpClient().send(request).status;
    };
    for (const bool turns : {true, false, true}) {
        turning = turns;
        for (const char* path : {"/healthz", "/health", "/alive"})
            BOOST_TEST(status_of(path) == (turns ? 200 : 503), path);
        BOOST_TEST(status_of("/readyz") == 200);
    }
}

BOOST_AUTO_TEST_CASE(slow_clients_do_not_delay_healthz) {
    const std::string much(std::size_t{8} << 20U, '#');
    const auto endpoints = HttpEndpoints::listen("127.0.0.1", 0,
                                                 {.metrics = [&much] { return much; },
                                                  .missing = [] { return std::string(); },
                                                  .history = [] { return std::string(); },
                                                  .turning = [] { return true; }});
    BOOST_REQUIRE(endpoints.has_value());
    const int port = (*endpoints)->port();
    std::deque<SlowClient> clients;
    for (int i = 0; i < 100; ++i) {
        clients.emplace_back(port, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");  // never reads its answer
        clients.emplace_back(port, "GET /healthz HTTP/1.1\r\nHost: ");           // never says the rest
    }
    for (const char* path : {"/healthz", "/readyz", "/healthz"}) {
        HttpRequest request;
        request.url = "http://127.0.0.1:" + std::to_string(port) + path;
        request.timeout = std::chrono::seconds(20);  // four threads for all of them took minutes
        const auto answer = HttpClient().send(request);
        BOOST_TEST(answer.status == 200, path << ": " << answer.cause);
    }
}

BOOST_AUTO_TEST_CASE(a_request_goes_to_the_threads_for_its_kind) {
    for (const char* path : {"/healthz", "/health", "/alive", "/readyz", "/ready", "/healthz?verbose=1"})
        BOOST_TEST((request_kind("GET " + std::string(path) + " HTTP/1.1\r\n") == RequestKind::health), path);
    BOOST_TEST((request_kind("POST /api/callbacks HTTP/1.1\r\n") == RequestKind::api));
    for (const char* head : {"GET /metrics HTTP/1.1\r\n", "GET /healthz2 HTTP/1.1", "", "nonsense", "GET "})
        BOOST_TEST((request_kind(head) == RequestKind::other), head);
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_byte_by_byte_is_answered) {
    const auto endpoints = HttpEndpoints::listen("127.0.0.1", 0,
                                                 {.metrics = [] { return std::string("some 1\n"); },
                                                  .missing = [] { return std::string(); },
                                                  .history = [] { return std::string(); },
                                                  .turning = [] { return true; }});
    BOOST_REQUIRE(endpoints.has_value());
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>((*endpoints)->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    BOOST_REQUIRE(::connect(client, to, sizeof address) == 0);
    for (const char c : std::string("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"))
        ::send(client, &c, 1, MSG_NOSIGNAL);
    std::string answer;
    char bytes[512];
    for (ssize_t size = 0; (size = ::recv(client, bytes, sizeof bytes, 0)) > 0;)
        answer.append(bytes, static_cast<std::size_t>(size));
    ::close(client);
    BOOST_TEST(answer.starts_with("HTTP/1.1 200"));
    BOOST_TEST(answer.ends_with("some 1\n"));
}
