#include "ops/fake_platform/socket_session.h"

#include <array>
#include <deque>
#include <mutex>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace epilogue::fake_platform {
namespace {

namespace websocket = boost::beast::websocket;
using boost::asio::ip::tcp;
using boost::system::error_code;

/// What is to be said, and an eventfd that wakes the connection's thread.
class Outbox final : public SocketPeer {
  public:
    struct Line {
        std::optional<std::string> text;
        unsigned short code = 0;  ///< without text: the close frame's code; 0: no close frame
    };

    Outbox() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Outbox() override { ::close(bell_); }
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    void send(std::string text) override { push({std::move(text)}); }
    void close(unsigned short code) override { push({std::nullopt, code}); }
    void drop() override { push({}); }

    int bell() const { return bell_; }
    /// The next line, or nullopt when there is none now.
    std::optional<Line> next() {
        const std::lock_guard lock(mutex_);
        if (lines_.empty()) {
            std::uint64_t rung = 0;
            static_cast<void>(!::read(bell_, &rung, sizeof rung));
            return std::nullopt;
        }
        Line line = std::move(lines_.front());
        lines_.pop_front();
        return line;
    }

  private:
    void push(Line line) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::move(line));
        const std::uint64_t ring = 1;
        static_cast<void>(!::write(bell_, &ring, sizeof ring));
    }

    int bell_;
    std::mutex mutex_;
    std::deque<Line> lines_;
};

class Session {
  public:
    Session(tcp::socket& socket, const SocketHandlers& handlers)
        : socket_(socket.get_executor(), tcp::v4(), ::dup(socket.native_handle())), handlers_(handlers) {}

    Ending run(const boost::beast::http::request<boost::beast::http::string_body>& handshake,
               const Request& request) {
        error_code error;
        socket_.accept(handshake, error);
        if (error) return Ending::close;
        handlers_.opened(request, outbox_);
        const Ending ending = converse();
        if (handlers_.closed) handlers_.closed(outbox_);
        return ending;
    }

  private:
    Ending converse() {
        for (;;) {
            if (const auto over = say_all()) return *over;
            std::array<pollfd, 2> waits{
                {{socket_.next_layer().native_handle(), POLLIN, 0}, {outbox_->bell(), POLLIN, 0}}};
            if (::poll(waits.data(), waits.size(), -1) < 0) continue;
            if (waits[0].revents != 0 && !hear()) return Ending::close;
        }
    }

    /// Says what there is to say; the ending when that was the last line.
    std::optional<Ending> say_all() {
        while (const auto line = outbox_->next()) {
            error_code error;
            if (line->text) {
                socket_.text(true);
                socket_.write(boost::asio::buffer(*line->text), error);
                if (error) return Ending::close;
            } else if (line->code != 0) {
                socket_.close(websocket::close_reason(line->code), error);
                return Ending::close;
            } else {
                return Ending::reset;
            }
        }
        return std::nullopt;
    }

    /// Reads one frame; false when the connection is over. Control frames are answered on the way.
    bool hear() {
        boost::beast::flat_buffer buffer;
        error_code error;
        socket_.read(buffer, error);
        if (error) return false;
        if (handlers_.received) handlers_.received(outbox_, boost::beast::buffers_to_string(buffer.data()));
        return true;
    }

    // A descriptor of its own: Beast closes it whenever it likes, while the server looks at the connection's.
    websocket::stream<tcp::socket> socket_;
    const SocketHandlers& handlers_;
    std::shared_ptr<Outbox> outbox_ = std::make_shared<Outbox>();
};

}  // namespace

Ending serve_socket(tcp::socket& socket,
                    const boost::beast::http::request<boost::beast::http::string_body>& handshake,
                    const Request& request, const SocketHandlers& handlers) {
    return Session(socket, handlers).run(handshake, request);
}

}  // namespace epilogue::fake_platform
