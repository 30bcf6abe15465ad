// A mail server on loopback that says what a test tells it to, in the clear or over TLS.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace epilogue {

/// Replies that are no text.
inline constexpr const char* drop = "drop";  ///< the connection ends
inline constexpr const char* hang = "hang";  ///< nothing comes any more

struct SmtpScript {
    std::vector<std::string> offers = {"8BITMIME"};  ///< EHLO's lines; "STARTTLS" and "AUTH PLAIN" work
    /// By "hello" (the greeting), a command's verb in small letters, "message" (instead of reading it) or "."
    /// (behind it): what is said instead. Without a line's end the connection ends behind it.
    std::map<std::string, std::string> replies = {};
    bool is_tls = false;  ///< from the first byte on
    std::string certificate_path = {};
    std::string key_path = {};
};

/// Serves one connection after the other.
class SmtpServer {
  public:
    /// Listens on 127.0.0.1, a free port. Throws std::runtime_error when there is none, or no such
    /// certificate.
    explicit SmtpServer(SmtpScript script);
    /// Ends the connection, too.
    ~SmtpServer();
    SmtpServer(const SmtpServer&) = delete;
    SmtpServer& operator=(const SmtpServer&) = delete;

    /// "smtp://127.0.0.1:PORT"
    std::string url(const std::string& scheme = "smtp") const;
    /// The commands, each in one line; those over TLS begin with "tls ".
    std::vector<std::string> said() const;
    /// The messages whose end was read, without it.
    std::vector<std::string> messages() const;

  private:
    class Session;
    void serve();

    const SmtpScript script_;
    int listener_ = -1;
    unsigned short port_ = 0;
    mutable std::mutex mutex_;  // guards what follows
    std::vector<std::string> said_;
    std::vector<std::string> messages_;
    int peer_ = -1;
    bool is_stopping_ = false;
    std::thread thread_;
};

}  // namespace epilogue
