#include "ops/fake_platform/mail_server.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/text.h"
#include "ops/fake_platform/listener.h"

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

MailServer::MailServer(FakePlatform& platform)
    : listener_(std::make_unique<Listener>(
          0, [&platform](tcp::socket& socket) { return Session(socket, platform).serve(); })) {}

MailServer::~MailServer() = default;

unsigned short MailServer::port() const {
    return listener_->port();
}

}  // namespace epilogue::fake_platform
