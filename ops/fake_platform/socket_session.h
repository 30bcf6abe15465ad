// Plays one WebSocket of a Server to its end. For server.cpp only.
#pragma once

#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "ops/fake_platform/http_messages.h"
#include "ops/fake_platform/socket_peer.h"

namespace epilogue::standin {

/// Accepts the handshake and returns when the connection is over: how it is to be finished.
Ending play_socket(boost::asio::ip::tcp::socket& socket,
                   const boost::beast::http::request<boost::beast::http::string_body>& handshake,
                   const Request& request, const SocketPlay& play);

}  // namespace epilogue::standin
