#include "ops/fake_platform/listener.h"

#include <stdexcept>
#include <string>

#include <sys/socket.h>

namespace epilogue::fake_platform {

using boost::asio::ip::tcp;
using boost::system::error_code;

Listener::Listener(unsigned short port, Serve serve) : serve_(std::move(serve)) {
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

Listener::~Listener() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        // A blocked accept() or read() is woken by shutdown(2); close(2) would leave it blocked.
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        for (Connection& each : connections_)
            if (!each.is_over) ::shutdown(each.socket.native_handle(), SHUT_RDWR);
    }
    accepting_.join();
    for (Connection& each : connections_) each.thread.join();
}

void Listener::accept() {
    for (;;) {
        error_code error;
        tcp::socket socket = acceptor_.accept(error);
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        connections_.remove_if([](Connection& each) {
            if (each.is_over) each.thread.join();
            return each.is_over;
        });
        if (error) continue;
        Connection& connection = connections_.emplace_back(std::move(socket));
        connection.thread = std::thread([this, &connection] { this->serve(connection); });
    }
}

void Listener::serve(Connection& connection) {
    const Ending ending = serve_(connection.socket);
    // Under the lock: otherwise ~Listener could shut down another socket that got the same descriptor.
    const std::lock_guard lock(mutex_);
    error_code ignored;
    if (ending == Ending::reset) {
        connection.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    } else {
        connection.socket.shutdown(tcp::socket::shutdown_both, ignored);
    }
    connection.socket.close(ignored);
    connection.is_over = true;
}

}  // namespace epilogue::fake_platform
