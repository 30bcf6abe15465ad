#include "agent/relay/webhook/http_server.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/io/log.h"
#include "base/thread_name.h"

namespace epilogue::relay {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t max_head_bytes = 16384;

/// An answer that comes from any thread, and the one who waits for it. On one strand.
struct Awaited {
    explicit Awaited(const asio::any_io_executor& on) : timer(on, asio::steady_timer::time_point::max()) {}

    asio::steady_timer timer;
    std::optional<HttpReply> reply;
};

/// Agent servers put their own session key into X-Session-API-Key, over what a webhook's `headers` say. Where
/// that key is made up for each sandbox, the relay's comes as a bearer token.
std::string key_of(const http::request_header<>& request) {
    constexpr std::string_view scheme = "Bearer ";
    const auto authorization = request[http::field::authorization];
    if (beast::iequals(authorization.substr(0, scheme.size()), {scheme.data(), scheme.size()}))
        return std::string(authorization.substr(scheme.size()));
    return std::string(request["X-Session-API-Key"]);
}

HttpHead head_of(const http::request_header<>& request) {
    HttpHead head;
    head.method = std::string(request.method_string());
    head.target = std::string(request.target());
    head.key = key_of(request);
    head.traceparent = std::string(request["traceparent"]);
    return head;
}

}  // namespace

/// The threads, the acceptor and the connections.
class HttpServer::Loop {
  public:
    Loop(HttpServerRules rules, HttpService& service)
        : rules_(std::move(rules)), service_(service), acceptor_(asio::make_strand(io_)) {}
    ~Loop() {
        io_.stop();
        threads_.clear();
        clients_.clear();  // the coroutines, which end with io_, hold them
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    Result<void> start();
    unsigned short port() const { return port_; }
    bool drain(std::chrono::milliseconds within);

  private:
    class Client;

    asio::awaitable<void> accept();
    void left(Client* client);
    /// Room for a body among those of all clients.
    bool reserve(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes > rules_.max_body_bytes - body_bytes_) return false;
        body_bytes_ += bytes;
        return true;
    }
    void release(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        body_bytes_ -= bytes;
    }
    bool is_draining() const {
        const std::lock_guard lock(mutex_);
        return draining_;
    }

    const HttpServerRules rules_;
    HttpService& service_;
    unsigned short port_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable_any gone_;
    std::set<std::shared_ptr<Client>> clients_;
    std::size_t body_bytes_ = 0;
    bool draining_ = false;
    asio::io_context io_;
    tcp::acceptor acceptor_;
    std::vector<std::jthread> threads_;
};

/// One connection, on a strand of its own.
class HttpServer::Loop::Client : public std::enable_shared_from_this<Client> {
  public:
    Client(Loop& loop, tcp::socket socket) : loop_(loop), stream_(std::move(socket)) {}

    void start() {
        asio::co_spawn(
            stream_.get_executor(), [self = shared_from_this()] { return self->run(); }, asio::detached);
    }
    /// From any thread: ends the connection unless a request has begun.
    void close_if_idle() {
        asio::post(stream_.get_executor(), [self = shared_from_this()] {
            if (self->idle_) self->stream_.close();
        });
    }

  private:
    asio::awaitable<void> run() {
        try {
            bool goes_on = true;
            while (goes_on && !loop_.is_draining()) goes_on = co_await one_request();
        } catch (const std::exception& over) {
            // A connection that broke, or a client that was too slow: it is closed.
            log_debug("a client of the relay was let go", {{"cause", over.what()}});
        }
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        loop_.left(this);
    }

    /// False when the connection is over.
    asio::awaitable<bool> one_request() {
        if (buffer_.size() == 0) {
            idle_ = true;
            stream_.expires_after(loop_.rules_.idle);
            constexpr std::size_t some = 4096;
            buffer_.commit(co_await stream_.async_read_some(buffer_.prepare(some), asio::use_awaitable));
            idle_ = false;
        }
        http::request_parser<http::string_body> parser;
        parser.header_limit(max_head_bytes);
        parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // is judged by the head
        stream_.expires_after(loop_.rules_.head_within);
        error_code error;
        co_await http::async_read_header(stream_, buffer_, parser,
                                         asio::redirect_error(asio::use_awaitable, error));
        if (error == http::error::header_limit)
            co_return co_await give(http_refusal(431, "the head: expected at most 16384 bytes"), false);
        if (error == http::error::end_of_stream || error == beast::error::timeout) co_return false;
        if (error && error.category() == http::make_error_code(http::error::bad_method).category())
            co_return co_await give(http_refusal(400, "the request: expected HTTP/1.1"), false);
        if (error) co_return false;
        co_return co_await answer(parser);
    }

    asio::awaitable<bool> answer(http::request_parser<http::string_body>& parser) {
        const HttpHead head = head_of(parser.get());
        const bool keeps = parser.keep_alive();
        const std::uint64_t length = parser.content_length() ? *parser.content_length() : 0;
        stream_.expires_after(loop_.rules_.body_within);
        if (auto reply = loop_.service_.answer_head(head)) {
            bool is_whole = false;
            if (!parser.chunked()) is_whole = co_await skip(parser, length);
            co_return co_await give(std::move(*reply), keeps && is_whole);
        }
        if (parser.chunked()) co_return co_await give(http_refusal(411, "expected a Content-Length"), false);
        if (length > loop_.rules_.max_body_bytes)
            co_return co_await give(
                http_refusal(413, "the body: expected at most " +
                                      std::to_string(loop_.rules_.max_body_bytes) + " bytes"),
                false);
        if (!loop_.reserve(length)) {
            const bool is_whole = co_await skip(parser, length);
            co_return co_await give(http_unavailable("as many bytes are being read as there may be"),
                                    keeps && is_whole);
        }
        HttpReply reply;
        {
            // Free again before the client can have read the answer and send the next one.
            const Reserved reserved{loop_, length};
            if (beast::iequals(parser.get()["Expect"], "100-continue")) co_await go_on();
            if (!parser.is_done()) co_await http::async_read(stream_, buffer_, parser, asio::use_awaitable);
            reply = co_await served(head, std::move(parser.get().body()));
        }
        co_return co_await give(std::move(reply), keeps);
    }

    struct Reserved {
        Loop& loop;
        std::size_t bytes;
        ~Reserved() { loop.release(bytes); }
    };

    /// The service's answer, whenever it comes.
    asio::awaitable<HttpReply> served(const HttpHead& head, std::string body) {
        stream_.expires_never();
        const auto awaited = std::make_shared<Awaited>(stream_.get_executor());
        // Who answers may hold this longer than there is a server.
        const std::weak_ptr<Awaited> waiting = awaited;
        loop_.service_.answer(head, std::move(body), [waiting](HttpReply reply) {
            const auto there = waiting.lock();
            if (!there) return;
            asio::post(there->timer.get_executor(), [there, reply = std::move(reply)]() mutable {
                there->reply = std::move(reply);
                there->timer.cancel();
            });
        });
        while (!awaited->reply) {
            error_code cancelled;
            co_await awaited->timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        }
        co_return std::move(*awaited->reply);
    }

    asio::awaitable<void> go_on() {
        const http::response<http::empty_body> response{http::status::continue_, 11};
        co_await http::async_write(stream_, response, asio::use_awaitable);
    }

    /// Reads a body that is not wanted, so that its sender reads the answer; false when it is too long for
    /// that, or comes too slowly.
    asio::awaitable<bool> skip(const http::request_parser<http::string_body>& parser, std::uint64_t length) {
        constexpr std::uint64_t longest = std::uint64_t{1} << 20U;
        if (length > longest || beast::iequals(parser.get()["Expect"], "100-continue")) co_return length == 0;
        const std::size_t here = std::min<std::size_t>(buffer_.size(), length);
        buffer_.consume(here);
        std::uint64_t left = length - here;
        std::array<char, 16384> bytes{};
        while (left > 0) {
            error_code error;
            const auto wanted = std::min<std::uint64_t>(left, bytes.size());
            left -= co_await stream_.async_read_some(asio::buffer(bytes.data(), wanted),
                                                     asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return false;
        }
        co_return true;
    }

    asio::awaitable<bool> give(HttpReply reply, bool keeps) {
        keeps = keeps && !loop_.is_draining();
        loop_.rules_.answered(reply.status);
        http::response<http::string_body> response;
        response.version(11);
        response.result(reply.status);
        response.set(http::field::content_type, reply.content_type);
        for (const auto& [name, value] : reply.headers) response.set(name, value);
        response.body() = std::move(reply.body);
        response.keep_alive(keeps);
        response.prepare_payload();
        stream_.expires_after(loop_.rules_.taken_within);
        co_await http::async_write(stream_, response, asio::use_awaitable);
        co_return keeps;
    }

    Loop& loop_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    bool idle_ = false;
};

Result<void> HttpServer::Loop::start() {
    error_code error;
    const auto found = tcp::resolver(io_).resolve(rules_.host, std::to_string(rules_.port), error);
    const tcp::endpoint endpoint = error ? tcp::endpoint() : found.begin()->endpoint();
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
        return fatal("[relay] http_listen: " + rules_.host + ":" + std::to_string(rules_.port) +
                     " cannot be listened on: " + error.message());
    port_ = acceptor_.local_endpoint().port();
    asio::co_spawn(
        acceptor_.get_executor(), [this] { return accept(); }, asio::detached);
    for (int i = 0; i < rules_.threads; ++i)
        threads_.push_back(named_thread("relay-http", [this](const auto&) { io_.run(); }));
    return {};
}

asio::awaitable<void> HttpServer::Loop::accept() {
    while (acceptor_.is_open()) {
        error_code error;
        tcp::socket socket = co_await acceptor_.async_accept(
            asio::make_strand(io_), asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::operation_aborted) co_return;
        if (error) {
            // No file is left for it: those that are open have to end first.
            asio::steady_timer pause(acceptor_.get_executor(), std::chrono::milliseconds(100));
            co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
            continue;
        }
        socket.set_option(tcp::no_delay(true), error);
        const auto client = std::make_shared<Client>(*this, std::move(socket));
        {
            const std::lock_guard lock(mutex_);
            if (draining_ || clients_.size() >= rules_.connections) continue;
            clients_.insert(client);
        }
        client->start();
    }
}

void HttpServer::Loop::left(Client* client) {
    const std::lock_guard lock(mutex_);
    clients_.erase(client->shared_from_this());
    gone_.notify_all();
}

bool HttpServer::Loop::drain(std::chrono::milliseconds within) {
    asio::post(acceptor_.get_executor(), [this] {
        error_code ignored;
        acceptor_.close(ignored);
    });
    std::unique_lock lock(mutex_);
    draining_ = true;
    for (const auto& client : clients_) client->close_if_idle();
    return gone_.wait_for(lock, within, [this] { return clients_.empty(); });
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(HttpServerRules rules, HttpService& service) {
    auto loop = std::make_unique<Loop>(std::move(rules), service);
    TRY_VOID(loop->start());
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

unsigned short HttpServer::port() const {
    return loop_->port();
}

bool HttpServer::drain(std::chrono::milliseconds within) {
    return loop_->drain(within);
}

}  // namespace epilogue::relay
