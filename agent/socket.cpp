#include "agent/socket.h"

#include <random>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/socket_connection.h"
#include "base/backoff.h"
#include "base/thread_name.h"

namespace epilogue::agent {

std::chrono::milliseconds quiet_of(const Features& features) {
    return features.answers_pings ? std::chrono::seconds(60) : std::chrono::seconds(660);
}

class EventSocket::Loop {
  public:
    Loop(SocketTarget target, SocketListener listener, SocketLimits limits)
        : target_(std::move(target)), listener_(std::move(listener)), limits_(limits) {
        boost::asio::post(context_, [this] { connect(); });
        thread_ = std::thread([this] {
            name_this_thread("event socket");
            context_.run();
        });
    }

    ~Loop() { stop(); }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void renew() {
        boost::asio::post(context_, [this] {
            if (connection_ && !stopping_) connection_->cut();
        });
    }

    void stop() {
        if (!thread_.joinable()) return;
        boost::asio::post(context_, [this] {
            stopping_ = true;
            again_.cancel();
            if (!connection_) return;
            connection_->close();
            cut_.expires_after(limits_.stop);
            cut_.async_wait([this](boost::system::error_code cancelled) {
                if (!cancelled) context_.stop();
            });
        });
        thread_.join();
    }

  private:
    void connect() {
        if (stopping_) return;
        ConnectionEvents events;
        events.on_open = listener_.on_open;
        events.on_frame = [this](std::string frame) {
            failures_ = 0;  // not before: a server may accept and close, again and again
            if (!stopping_) listener_.on_frame(std::move(frame));
        };
        events.on_end = [this](const ConnectionEnd& end) { ended(end); };
        connection_ = open_connection(context_, target_, limits_, std::move(events));
    }

    void ended(const ConnectionEnd& end) {
        connection_.reset();
        cut_.cancel();
        if (stopping_) return;
        if (end.fatal) {
            listener_.on_end(*end.fatal);
            return;
        }
        listener_.on_down(end.cause);
        std::uniform_real_distribution<double> uniform(0, 1);
        again_.expires_after(
            full_jitter(++failures_, uniform(random_), limits_.backoff_base, limits_.backoff_cap));
        again_.async_wait([this](boost::system::error_code cancelled) {
            if (!cancelled) connect();
        });
    }

    const SocketTarget target_;
    const SocketListener listener_;
    const SocketLimits limits_;
    std::mt19937_64 random_{std::random_device{}()};
    int failures_ = 0;
    bool stopping_ = false;
    boost::asio::io_context context_{1};
    boost::asio::steady_timer again_{context_};
    boost::asio::steady_timer cut_{context_};
    std::shared_ptr<Connection> connection_;
    std::thread thread_;
};

EventSocket::EventSocket(SocketTarget target, SocketListener listener, SocketLimits limits)
    : loop_(std::make_unique<Loop>(std::move(target), std::move(listener), limits)) {}

EventSocket::~EventSocket() = default;

void EventSocket::renew() {
    loop_->renew();
}

void EventSocket::stop() {
    loop_->stop();
}

}  // namespace epilogue::agent
