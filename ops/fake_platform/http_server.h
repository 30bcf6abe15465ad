// A blocking HTTP/1.1 server on loopback, one thread a connection. Boost.Beast stays in http_server.cpp.
#pragma once

#include <functional>
#include <memory>

#include "ops/fake_platform/http_messages.h"
#include "ops/fake_platform/socket_peer.h"

namespace epilogue::fake_platform {

class HttpServer {
  public:
    using Handler = std::function<Reply(const Request&)>;

    /// Listens on 127.0.0.1:`port` (0: a free one) and calls `handler` from the connections' threads, as
    /// long as it likes to block; `sockets` handles the WebSockets that are asked for. Throws
    /// std::runtime_error when the port cannot be had.
    HttpServer(unsigned short port, Handler handler, SocketHandlers sockets = {});
    /// Ends every connection and joins every thread: `handler` must return soon; what makes it wait has to be
    /// released before.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port it listens on.
    unsigned short port() const;

  private:
    class Service;
    std::unique_ptr<Service> service_;
};

}  // namespace epilogue::fake_platform
