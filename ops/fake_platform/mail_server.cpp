#include "ops/fake_platform/mail_server.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

#include "base/text.h"

namespace epilogue::fake_platform {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t max_mail = std::size_t{4} << 20U;

/// What stands between '<' and '>'.
std::string address_in(std::string_view line) {
    const std::size_t open = line.find('<');
    const std::size_t close = line.find('>', std::min(open, line.size()));
    if (close == std::string_view::npos) return {};
    return std::string(line.substr(open + 1, close - open - 1));
}

std::string reply_line(const Reply& reply) {
    constexpr int first_refusal = 400;
    if (reply.status < first_refusal) return "250 OK\r\n";
    const bool is_smtp = reply.status < 500 ? reply.status / 10 != 40 || reply.status == 421 : true;
    return std::to_string(is_smtp ? reply.status : 550) + " " +
           (reply.body.empty() ? "refused" : reply.body) + "\r\n";
}

/// One connection's dialogue.
class Session {
  public:
    Session(tcp::socket& socket, FakePlatform& platform) : socket_(socket), platform_(platform) {}

    /// How the connection ends.
    Ending serve() {
        Ending ending = Ending::answer;
        say("220 mail.fake.example ESMTP\r\n");
        std::string line;
        while (ending == Ending::answer && read(line, "\r\n")) ending = answer(line);
        return ending == Ending::reset ? Ending::reset : Ending::close;
    }

  private:
    bool read(std::string& text, const char* until) {
        error_code error;
        const std::size_t size =
            boost::asio::read_until(socket_, boost::asio::dynamic_buffer(buffer_, max_mail), until, error);
        if (error) return false;
        text = buffer_.substr(0, size - std::string_view(until).size());
        buffer_.erase(0, size);
        return true;
    }

    void say(const std::string& text) {
        error_code ignored;
        boost::asio::write(socket_, boost::asio::buffer(text), ignored);
    }

    Ending answer(const std::string& line) {
        const std::string verb = lowered(line.substr(0, 4));
        if (verb == "rcpt") return recipient(line);
        if (verb == "data") return message();
        if (verb == "ehlo")
            say("250-mail.fake.example\r\n250 8BITMIME\r\n");
        else if (verb == "quit")
            say("221 bye\r\n");
        else
            say("250 OK\r\n");
        return verb == "quit" ? Ending::close : Ending::answer;
    }

    Ending recipient(const std::string& line) {
        Request request;
        request.method = "RCPT";
        request.path = "/email/" + address_in(line);
        request.peer = socket_.native_handle();
        const Reply reply = platform_.handle(request);
        if (reply.ending != Ending::answer) return reply.ending;
        if (reply.status < 300) recipients_.push_back(address_in(line));
        say(reply_line(reply));
        return Ending::answer;
    }

    Ending message() {
        if (recipients_.empty()) {
            say("503 no recipient\r\n");
            return Ending::answer;
        }
        say("354 go on\r\n");
        Request request;
        if (!read(request.body, "\r\n.\r\n")) return Ending::close;
        request.body = replaced(request.body, "\r\n..", "\r\n.") + "\r\n";
        request.method = "POST";
        request.path = "/email/" + recipients_.front();
        for (const std::string& each : std::exchange(recipients_, {})) {
            std::string& all = request.headers["recipients"];
            all += (all.empty() ? "" : ",") + each;
        }
        request.peer = socket_.native_handle();
        const Reply reply = platform_.handle(request);
        if (reply.ending == Ending::answer) say(reply_line(reply));
        if (reply.ending == Ending::half) say("25");
        return reply.ending;
    }

    tcp::socket& socket_;
    FakePlatform& platform_;
    std::string buffer_;
    std::vector<std::string> recipients_;
};

}  // namespace

class MailServer::Listener {
  public:
    explicit Listener(FakePlatform& platform) : platform_(platform) {
        try {
            const tcp::endpoint endpoint(boost::asio::ip::address_v4::loopback(), 0);
            acceptor_.open(endpoint.protocol());
            acceptor_.bind(endpoint);
            acceptor_.listen();
            port_ = acceptor_.local_endpoint().port();
        } catch (const boost::system::system_error& error) {
            throw std::runtime_error(std::string("no port for mail on 127.0.0.1: ") + error.what());
        }
        accepting_ = std::thread([this] { accept(); });
    }
    ~Listener() {
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
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    unsigned short port() const { return port_; }

  private:
    struct Connection {
        explicit Connection(tcp::socket accepted) : socket(std::move(accepted)) {}
        tcp::socket socket;
        bool is_over = false;
        std::thread thread;
    };

    void accept() {
        while (true) {
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
            connection.thread = std::thread([this, &connection] { serve(connection); });
        }
    }

    void serve(Connection& connection) {
        const Ending ending = Session(connection.socket, platform_).serve();
        const std::lock_guard lock(mutex_);
        error_code ignored;
        if (ending == Ending::reset)
            connection.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
        connection.socket.close(ignored);
        connection.is_over = true;
    }

    FakePlatform& platform_;
    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_};
    unsigned short port_ = 0;
    std::mutex mutex_;  // guards what follows, and each socket's end
    bool stopping_ = false;
    std::list<Connection> connections_;
    std::thread accepting_;
};

MailServer::MailServer(FakePlatform& platform) : listener_(std::make_unique<Listener>(platform)) {}

MailServer::~MailServer() = default;

unsigned short MailServer::port() const {
    return listener_->port();
}

}  // namespace epilogue::fake_platform
