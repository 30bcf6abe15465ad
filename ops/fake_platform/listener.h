// Listens on loopback and serves each connection on a thread of its own: for http_server.cpp and
// mail_server.cpp only.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/ip/tcp.hpp>

#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

class Listener {
  public:
    /// Serves a connection to its end; returns how it is to be ended.
    using Serve = std::function<Ending(boost::asio::ip::tcp::socket&)>;

    /// Listens on 127.0.0.1:`port` (0: a free one). Throws std::runtime_error when the port cannot be had.
    Listener(unsigned short port, Serve serve);
    /// Ends every connection and joins every thread: `serve` returns once its socket is shut down.
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    unsigned short port() const { return port_; }

  private:
    struct Connection {
        explicit Connection(boost::asio::ip::tcp::socket accepted) : socket(std::move(accepted)) {}
        boost::asio::ip::tcp::socket socket;
        bool is_over = false;
        std::thread thread;
    };

    void accept();
    void serve(Connection& connection);

    const Serve serve_;
    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_{context_};
    unsigned short port_ = 0;
    std::mutex mutex_;  // guards what follows, and each socket's end
    bool stopping_ = false;
    std::list<Connection> connections_;
    std::thread accepting_;
};

}  // namespace epilogue::fake_platform
