#define BOOST_TEST_MODULE http_server
#include "agent/relay/webhook/http_server.h"

#include <future>
#include <map>
#include <mutex>
#include <optional>

#include <arpa/inet.h>
#include <boost/test/unit_test.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io/http.h"

using namespace epilogue;
using namespace epilogue::relay;

namespace {

constexpr std::size_t room_for_bodies = 100'000;

/// Says what it was asked; "/refused" without its body, "/held" when it is told to.
class Echo final : public HttpService {
  public:
    std::optional<HttpReply> answer_head(const HttpHead& head) override {
        if (head.target == "/refused") return http_refusal(401, "no");
        return std::nullopt;
    }
    void answer(const HttpHead& head, std::string body, std::function<void(HttpReply)> reply) override {
        HttpReply echo;
        echo.body = head.method + " " + head.target + " " + head.key + " " + body;
        if (head.target != "/held") return reply(std::move(echo));
        const std::lock_guard lock(mutex_);
        held_ = [reply, echo] { reply(echo); };
        is_held_.set_value();
    }
    void wait_held() { is_held_.get_future().wait(); }
    void release() {
        const std::lock_guard lock(mutex_);
        held_();
    }

  private:
    std::mutex mutex_;
    std::function<void()> held_;
    std::promise<void> is_held_;
};

/// A client that speaks by itself.
class RawClient {
  public:
    explicit RawClient(unsigned short port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto* to = reinterpret_cast<const sockaddr*>(&address);
        BOOST_REQUIRE(::connect(socket_, to, sizeof address) == 0);
    }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;
    ~RawClient() { ::close(socket_); }

    void say(const std::string& text) const {
        BOOST_REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(text.size()));
    }
    /// What comes until the text is in it, or the connection is over.
    std::string hear(const std::string& until) const {
        std::string heard;
        while (heard.find(until) == std::string::npos) {
            char bytes[4096];
            const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
            if (size <= 0) return heard + "<end>";
            heard.append(bytes, static_cast<std::size_t>(size));
        }
        return heard;
    }

  private:
    const int socket_;
};

struct Served {
    Echo echo;
    std::unique_ptr<HttpServer> server;

    /// `patience`: with heads and bodies.
    explicit Served(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
        HttpServerRules rules;
        rules.host = "127.0.0.1";
        rules.max_body_bytes = room_for_bodies;
        rules.connections = 8;
        rules.head_within = patience;
        rules.body_within = patience;
        server = std::move(*HttpServer::listen(std::move(rules), echo));
    }
    HttpAnswer post(const std::string& path, const std::string& body) const {
        HttpRequest request;
        request.method = "POST";
        request.url = "http://127.0.0.1:" + std::to_string(server->port()) + path;
        request.headers = {"X-Session-API-Key: k"};
        request.body = body;
        return HttpClient().send(request);
    }
};

std::string request_of(const std::string& path, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_bearer_token_is_the_key_whatever_session_key_stands_beside_it) {
    const Served served;
    const auto key_seen = [&](const std::vector<std::string>& headers) {
        HttpRequest request;
        request.method = "POST";
        request.url = "http://127.0.0.1:" + std::to_string(served.server->port()) + "/x";
        request.headers = headers;
        return HttpClient().send(request).body;
    };
    BOOST_TEST(key_seen({"X-Session-API-Key: session", "Authorization: Bearer relay"}) == "POST /x relay ");
    BOOST_TEST(key_seen({"authorization: bearer relay"}) == "POST /x relay ");
    BOOST_TEST(key_seen({"X-Session-API-Key: session", "Authorization: Basic cmVsYXk="}) ==
               "POST /x session ");
    BOOST_TEST(key_seen({}) == "POST /x  ");
}

BOOST_AUTO_TEST_CASE(a_request_is_handed_over_whole_and_its_answer_comes_back) {
    const Served served;
    const auto answer = served.post("/a?b=c", "body");
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.body == "POST /a?b=c k body");
    BOOST_TEST(answer.headers.at("content-type") == "application/json");
}

BOOST_AUTO_TEST_CASE(a_connection_serves_one_request_after_the_other) {
    const Served served;
    const RawClient client(served.server->port());
    client.say(request_of("/1", "one") + request_of("/refused", "unread") + request_of("/3", "three"));
    const std::string heard = client.hear("/3  three");
    BOOST_TEST(heard.find("POST /1  one") != std::string::npos);
    BOOST_TEST(heard.find("401 Unauthorized") != std::string::npos);
    client.say(request_of("/4", ""));
    BOOST_TEST(client.hear("/4").find("200 OK") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_large_body_comes_whole_and_a_larger_one_is_413) {
    const Served served;
    const std::string large(room_for_bodies, 'x');
    BOOST_TEST(served.post("/large", large).body.size() > large.size());
    const RawClient client(served.server->port());
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n");
    BOOST_TEST(client.hear("\r\n\r\n").find("413") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bodies_that_have_no_room_together_are_503_and_the_room_comes_back) {
    Served served;
    const RawClient first(served.server->port());
    first.say(request_of("/held", std::string(60'000, 'x')));
    served.echo.wait_held();
    const auto refused = served.post("/", std::string(60'000, 'y'));
    BOOST_TEST(refused.status == 503);
    BOOST_TEST(refused.headers.contains("retry-after"));
    served.echo.release();
    first.hear("xxx");
    BOOST_TEST(served.post("/", std::string(100'000, 'y')).status == 200);
}

BOOST_AUTO_TEST_CASE(slow_clients_are_let_go_and_hold_up_no_other) {
    const Served served(std::chrono::seconds(2));
    const RawClient slow_head(served.server->port());
    const RawClient slow_body(served.server->port());
    slow_head.say("POST / HTTP/1.1\r\nHost: ");
    slow_body.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
    BOOST_TEST(served.post("/", "quick").status == 200);
    BOOST_TEST(slow_head.hear("\r\n\r\n") == "<end>");
    BOOST_TEST(slow_body.hear("\r\n\r\n") == "<end>");
}

BOOST_AUTO_TEST_CASE(more_connections_than_there_may_be_are_closed) {
    const Served served;
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<RawClient>(served.server->port()));
        clients.back()->say(request_of("/" + std::to_string(i), ""));
        clients.back()->hear("POST /");
    }
    const RawClient more(served.server->port());
    BOOST_TEST(more.hear("HTTP") == "<end>");
    clients.clear();
}

BOOST_AUTO_TEST_CASE(what_is_no_request_is_refused) {
    const Served served;
    for (const char* text : {"nonsense\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"}) {
        const RawClient client(served.server->port());
        client.say(text);
        BOOST_TEST(client.hear("\r\n\r\n").find(" 400 ") != std::string::npos, text);
    }
    const RawClient chunked(served.server->port());
    chunked.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    BOOST_TEST(chunked.hear("\r\n\r\n").find(" 411 ") != std::string::npos);
    const RawClient long_head(served.server->port());
    long_head.say("POST / HTTP/1.1\r\nHost: " + std::string(17000, 'a') + "\r\n\r\n");
    BOOST_TEST(long_head.hear("\r\n\r\n").find(" 431 ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_drain_answers_what_is_under_way_and_lets_the_others_go) {
    Served served;
    const RawClient idle(served.server->port());
    idle.say(request_of("/1", ""));
    idle.hear("POST /1");
    const RawClient busy(served.server->port());
    busy.say(request_of("/held", "work"));
    served.echo.wait_held();
    auto drained =
        std::async(std::launch::async, [&] { return served.server->drain(std::chrono::seconds(60)); });
    BOOST_TEST(idle.hear("HTTP") == "<end>");
    served.echo.release();
    BOOST_TEST(busy.hear("work").find("Connection: close") != std::string::npos);
    BOOST_TEST(drained.get());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_in_use_is_said_to_be) {
    Served served;
    HttpServerRules rules;
    rules.host = "127.0.0.1";
    rules.port = served.server->port();
    const auto second = HttpServer::listen(std::move(rules), served.echo);
    BOOST_TEST(!second.has_value());
    BOOST_TEST(second.error().text.find("[relay] http_listen") != std::string::npos);
}
