// Serves one WebSocket of an HttpServer to its end. For http_server.cpp only.
#pragma once

#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "ops/fake_platform/http_messages.h"
#include "ops/fake_platform/socket_peer.h"

namespace epilogue::fake_platform {

/// Accepts the handshake and returns when the connection is over: how it is to be finished.
Ending serve_socket(boost::asio::ip::tcp::socket& socket,
                    const boost::beast::http::request<boost::beast::http::string_body>& handshake,
                    const Request& request, const SocketHandlers& handlers);

}  // namespace epilogue::fake_platform
