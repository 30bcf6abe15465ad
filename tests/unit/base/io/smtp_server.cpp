#include "tests/unit/base/io/smtp_server.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

namespace epilogue {
namespace {

struct ContextEnd {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct TlsEnd {
    void operator()(SSL* tls) const { SSL_free(tls); }
};
using Context = std::unique_ptr<SSL_CTX, ContextEnd>;
using Tls = std::unique_ptr<SSL, TlsEnd>;

/// nullptr without a certificate.
Context context_of(const SmtpScript& script) {
    if (script.certificate_path.empty()) return nullptr;
    Context context(SSL_CTX_new(TLS_server_method()));
    if (!context ||
        SSL_CTX_use_certificate_file(context.get(), script.certificate_path.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(context.get(), script.key_path.c_str(), SSL_FILETYPE_PEM) != 1)
        throw std::runtime_error("no certificate at " + script.certificate_path);
    return context;
}

}  // namespace

/// One connection's dialogue.
class SmtpServer::Session {
  public:
    Session(SmtpServer& server, int socket) : server_(server), socket_(socket) {}

    void serve() {
        if (server_.script_.is_tls && !encrypt()) return;
        std::string line;
        bool goes_on = reply("hello", "220 mail.example ESMTP\r\n");
        while (goes_on && read(line, "\r\n")) {
            {
                const std::lock_guard lock(server_.mutex_);
                server_.said_.push_back((tls_ ? "tls " : "") + line);
            }
            goes_on = answer(lowered(line.substr(0, line.find(' '))));
        }
    }

  private:
    bool encrypt() {
        context_ = context_of(server_.script_);
        tls_.reset(SSL_new(context_.get()));
        return SSL_set_fd(tls_.get(), socket_) == 1 && SSL_accept(tls_.get()) == 1;
    }

    bool read(std::string& text, std::string_view until) {
        std::size_t end = 0;
        while ((end = buffer_.find(until)) == std::string::npos) {
            char piece[4096];
            const auto size = tls_ ? SSL_read(tls_.get(), piece, sizeof piece)
                                   : static_cast<int>(::recv(socket_, piece, sizeof piece, 0));
            if (size <= 0) return false;
            buffer_.append(piece, static_cast<std::size_t>(size));
        }
        text = buffer_.substr(0, end);
        buffer_.erase(0, end + until.size());
        return true;
    }

    bool say(const std::string& text) {
        const int size = static_cast<int>(text.size());
        if (tls_) return SSL_write(tls_.get(), text.data(), size) == size;
        return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == size;
    }

    /// False when the connection is to end.
    bool reply(const std::string& to, std::string text) {
        const auto told = server_.script_.replies.find(to);
        if (told != server_.script_.replies.end()) text = told->second;
        std::string ignored;
        if (text == hang) static_cast<void>(read(ignored, "nothing that anybody says"));
        return text != drop && text != hang && say(text) && text.ends_with('\n');
    }

    bool answer(const std::string& verb) {
        if (verb == "ehlo") return reply(verb, offers());
        if (verb == "auth") return log_in();
        if (verb == "starttls") return reply(verb, "220 go on\r\n") && encrypt();
        if (verb == "data") return reply(verb, "354 go on\r\n") && message();
        if (verb == "quit") return reply(verb, "221 bye\r\n");
        return reply(verb, "250 OK\r\n");
    }

    /// Any password is the right one.
    bool log_in() {
        std::string password;
        return say("334 \r\n") && read(password, "\r\n") && reply("auth", "235 welcome\r\n");
    }

    std::string offers() const {
        std::string text = "250-mail.example";
        for (const std::string& each : server_.script_.offers)
            if (!tls_ || each != "STARTTLS") text += "\r\n250-" + each;
        return text + "\r\n250 HELP\r\n";
    }

    bool message() {
        if (server_.script_.replies.contains("message")) return reply("message", "");
        std::string text;
        if (!read(text, "\r\n.\r\n")) return false;
        {
            const std::lock_guard lock(server_.mutex_);
            server_.messages_.push_back(text);
        }
        return reply(".", "250 taken\r\n");
    }

    SmtpServer& server_;
    const int socket_;
    std::string buffer_;
    Context context_;
    Tls tls_;
};

SmtpServer::SmtpServer(SmtpScript script)
    : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    static_cast<void>(context_of(script_));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = static_cast<sockaddr*>(static_cast<void*>(&address));
    constexpr int backlog = 8;
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, backlog) != 0 ||
        ::getsockname(listener_, any, &size) != 0)
        throw std::runtime_error("no port for mail");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

SmtpServer::~SmtpServer() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        ::shutdown(listener_, SHUT_RDWR);
        if (peer_ >= 0) ::shutdown(peer_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
}

std::string SmtpServer::url(const std::string& scheme) const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
}

std::vector<std::string> SmtpServer::said() const {
    const std::lock_guard lock(mutex_);
    return said_;
}

std::vector<std::string> SmtpServer::messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
}

void SmtpServer::serve() {
    while (true) {
        const int accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (accepted < 0) return;
        {
            const std::lock_guard lock(mutex_);
            if (is_stopping_) ::shutdown(accepted, SHUT_RDWR);
            peer_ = accepted;
        }
        Session(*this, accepted).serve();
        const std::lock_guard lock(mutex_);
        ::close(accepted);
        peer_ = -1;
    }
}

}  // namespace epilogue
