#include "ops/fake_platform/http_server.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <sys/socket.h>

#include "base/text.h"
#include "ops/fake_platform/socket_session.h"

namespace epilogue::fake_platform {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t max_body = std::size_t{64} << 20U;

std::string text_of(boost::beast::string_view view) {
    return {view.data(), view.size()};
}

Request request_of(const http::request<http::string_body>& message, int peer) {
    Request request;
    request.method = text_of(message.method_string());
    const std::string target = text_of(message.target());
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string::npos) request.query = target.substr(mark + 1);
    for (const auto& field : message) {
        request.headers[lowered(text_of(field.name_string()))] = text_of(field.value());
    }
    request.body = message.body();
    request.peer = peer;
    return request;
}

/// The reply as bytes. It announces the whole body even if only half of it will be sent.
std::string bytes_of(const Reply& reply, bool keep_alive) {
    http::response<http::string_body> message;
    message.version(11);
    message.result(static_cast<unsigned>(reply.status));
    message.keep_alive(keep_alive);
    for (const auto& [name, value] : reply.headers) message.insert(name, value);
    message.body() = reply.body;
    const bool bodiless = reply.status < 200 || reply.status == 204 || reply.status == 304;
    if (!bodiless) message.content_length(reply.body.size());
    std::ostringstream out;
    out << message;
    std::string bytes = out.str();
    if (reply.ending == Ending::half) bytes.resize(bytes.size() - (reply.body.size() + 1) / 2);
    return bytes;
}

}  // namespace

class HttpServer::Listener {
  public:
    Listener(unsigned short port, Handler handler, SocketHandlers sockets);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    unsigned short port() const { return port_; }

  private:
    struct Connection {
        explicit Connection(tcp::socket accepted) : socket(std::move(accepted)) {}
        tcp::socket socket;
        bool done = false;
        std::thread thread;
    };

    void accept();
    void serve(Connection& connection);
    /// Serves one request; false when the connection has come to its end.
    bool serve_one(Connection& connection, boost::beast::flat_buffer& buffer);
    Reply handled(const Request& request) const;
    void finish(Connection& connection, Ending ending);
    void reap();

    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_};
    unsigned short port_ = 0;
    Handler handler_;
    SocketHandlers sockets_;
    std::mutex mutex_;  // guards what follows, and each socket's end
    bool stopping_ = false;
    std::list<Connection> connections_;
    std::thread accepting_;
};

HttpServer::Listener::Listener(unsigned short port, Handler handler, SocketHandlers sockets)
    : handler_(std::move(handler)), sockets_(std::move(sockets)) {
    try {
        const tcp::endpoint endpoint(boost::asio::ip::address_v4::loopback(), port);
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(endpoint);
        acceptor_.listen();
        port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error("cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + error.what());
    }
    accepting_ = std::thread([this] { accept(); });
}

HttpServer::Listener::~Listener() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        // A blocked accept() or read() is woken by shutdown(2); close(2) would leave it blocked.
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        for (Connection& connection : connections_) {
            if (!connection.done) ::shutdown(connection.socket.native_handle(), SHUT_RDWR);
        }
    }
    accepting_.join();
    for (Connection& connection : connections_) connection.thread.join();
}

void HttpServer::Listener::accept() {
    for (;;) {
        error_code error;
        tcp::socket socket = acceptor_.accept(error);
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        reap();
        if (error) continue;
        Connection& connection = connections_.emplace_back(std::move(socket));
        connection.thread = std::thread([this, &connection] { serve(connection); });
    }
}

void HttpServer::Listener::reap() {
    for (auto at = connections_.begin(); at != connections_.end();) {
        if (at->done) {
            at->thread.join();
            at = connections_.erase(at);
        } else {
            ++at;
        }
    }
}

void HttpServer::Listener::serve(Connection& connection) {
    error_code ignored;
    connection.socket.set_option(tcp::no_delay(true), ignored);
    boost::beast::flat_buffer buffer;
    while (serve_one(connection, buffer)) {
    }
}

bool HttpServer::Listener::serve_one(Connection& connection, boost::beast::flat_buffer& buffer) {
    error_code error;
    http::request_parser<http::string_body> parser;
    parser.body_limit(max_body);
    http::read(connection.socket, buffer, parser, error);
    if (error) {
        finish(connection, Ending::close);
        return false;
    }
    const Request request = request_of(parser.get(), connection.socket.native_handle());
    if (sockets_.opened && boost::beast::websocket::is_upgrade(parser.get())) {
        const int refusal = sockets_.refusal ? sockets_.refusal(request) : 0;
        if (refusal == 0) {
            finish(connection, serve_socket(connection.socket, parser.get(), request, sockets_));
            return false;
        }
        const std::string bytes = bytes_of({refusal, {}, "", Ending::answer}, false);
        boost::asio::write(connection.socket, boost::asio::buffer(bytes), error);
        finish(connection, Ending::close);
        return false;
    }
    const Reply reply = handled(request);
    const bool keep = parser.get().keep_alive() && reply.ending == Ending::answer;
    if (reply.ending == Ending::answer || reply.ending == Ending::half) {
        boost::asio::write(connection.socket, boost::asio::buffer(bytes_of(reply, keep)), error);
    }
    if (keep && !error) return true;
    finish(connection, reply.ending);
    return false;
}

Reply HttpServer::Listener::handled(const Request& request) const {
    try {
        return handler_(request);
    } catch (const std::exception& error) {
        return {500, {{"content-type", "text/plain"}}, error.what(), Ending::answer};
    }
}

void HttpServer::Listener::finish(Connection& connection, Ending ending) {
    // Under the lock: otherwise ~Listener could shut down another socket that got the same descriptor.
    const std::lock_guard lock(mutex_);
    error_code ignored;
    if (ending == Ending::reset) {
        connection.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    } else {
        connection.socket.shutdown(tcp::socket::shutdown_both, ignored);
    }
    connection.socket.close(ignored);
    connection.done = true;
}

HttpServer::HttpServer(unsigned short port, Handler handler, SocketHandlers sockets)
    : listener_(std::make_unique<Listener>(port, std::move(handler), std::move(sockets))) {}

HttpServer::~HttpServer() = default;

unsigned short HttpServer::port() const {
    return listener_->port();
}

}  // namespace epilogue::fake_platform
