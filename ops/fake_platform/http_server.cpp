#include "ops/fake_platform/http_server.h"

#include <optional>
#include <sstream>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/text.h"
#include "ops/fake_platform/listener.h"
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

class HttpServer::Service {
  public:
    Service(unsigned short port, Handler handler, SocketHandlers sockets)
        : handler_(std::move(handler)),
          sockets_(std::move(sockets)),
          listener_(port, [this](tcp::socket& socket) { return serve(socket); }) {}

    unsigned short port() const { return listener_.port(); }

  private:
    Ending serve(tcp::socket& socket) const;
    /// Serves one request; how the connection ends, nullopt when it goes on.
    std::optional<Ending> serve_one(tcp::socket& socket, boost::beast::flat_buffer& buffer) const;
    Reply handled(const Request& request) const;

    const Handler handler_;
    const SocketHandlers sockets_;
    Listener listener_;  // the last: its threads use the others
};

Ending HttpServer::Service::serve(tcp::socket& socket) const {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    boost::beast::flat_buffer buffer;
    for (;;)
        if (const auto ending = serve_one(socket, buffer)) return *ending;
}

std::optional<Ending> HttpServer::Service::serve_one(tcp::socket& socket,
                                                     boost::beast::flat_buffer& buffer) const {
    error_code error;
    http::request_parser<http::string_body> parser;
    parser.body_limit(max_body);
    http::read(socket, buffer, parser, error);
    if (error) return Ending::close;
    const Request request = request_of(parser.get(), socket.native_handle());
    if (sockets_.opened && boost::beast::websocket::is_upgrade(parser.get())) {
        const int refusal = sockets_.refusal ? sockets_.refusal(request) : 0;
        if (refusal == 0) return serve_socket(socket, parser.get(), request, sockets_);
        const std::string bytes = bytes_of({refusal, {}, "", Ending::answer}, false);
        boost::asio::write(socket, boost::asio::buffer(bytes), error);
        return Ending::close;
    }
    const Reply reply = handled(request);
    const bool keep = parser.get().keep_alive() && reply.ending == Ending::answer;
    if (reply.ending == Ending::answer || reply.ending == Ending::half) {
        boost::asio::write(socket, boost::asio::buffer(bytes_of(reply, keep)), error);
    }
    if (keep && !error) return std::nullopt;
    return reply.ending;
}

Reply HttpServer::Service::handled(const Request& request) const {
    try {
        return handler_(request);
    } catch (const std::exception& error) {
        return {500, {{"content-type", "text/plain"}}, error.what(), Ending::answer};
    }
}

HttpServer::HttpServer(unsigned short port, Handler handler, SocketHandlers sockets)
    : service_(std::make_unique<Service>(port, std::move(handler), std::move(sockets))) {}

HttpServer::~HttpServer() = default;

unsigned short HttpServer::port() const {
    return service_->port();
}

}  // namespace epilogue::fake_platform
