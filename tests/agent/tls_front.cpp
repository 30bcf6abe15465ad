#include "tests/agent/tls_front.h"

#include <array>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "tests/support/eventually.h"
#include "tests/support/process.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint loopback(unsigned short port) {
    return {asio::ip::address_v4::loopback(), port};
}

/// A new key with a certificate of two days; `more`: what else openssl has to know.
Identity made(const std::filesystem::path& folder, const std::string& name,
              const std::vector<std::string>& more) {
    const Identity identity{folder / (name + ".pem"), folder / (name + ".key")};
    std::vector<std::string> argv{"openssl",
                                  "req",
                                  "-x509",
                                  "-newkey",
                                  "ec",
                                  "-pkeyopt",
                                  "ec_paramgen_curve:prime256v1",
                                  "-nodes",
                                  "-days",
                                  "2",
                                  "-subj",
                                  "/CN=Epilogue's tests",
                                  "-out",
                                  identity.certificate,
                                  "-keyout",
                                  identity.key};
    argv.insert(argv.end(), more.begin(), more.end());
    const Finished done = run({argv}, patience);
    if (done.status != 0) throw std::runtime_error("no certificate: " + done.err);
    return identity;
}

using Tls = ssl::stream<tcp::socket>;

/// One client and its connection to the server.
struct Pair {
    Pair(tcp::socket accepted, ssl::context& context)
        : client(std::move(accepted), context), server(client.get_executor()) {}

    Tls client;
    tcp::socket server;
};

using SharedPair = std::shared_ptr<Pair>;

/// Passes on what one side says until one of them is at its end; then both are.
template <class From, class To>
asio::awaitable<void> pass(SharedPair pair, From& from, To& to) {
    std::array<char, 16384> piece{};
    error_code failed;
    while (!failed) {
        const std::size_t size = co_await from.async_read_some(
            asio::buffer(piece), asio::redirect_error(asio::use_awaitable, failed));
        if (!failed)
            co_await asio::async_write(to, asio::buffer(piece.data(), size),
                                       asio::redirect_error(asio::use_awaitable, failed));
    }
    error_code ignored;
    pair->client.lowest_layer().close(ignored);
    pair->server.close(ignored);
}

}  // namespace

Authority::Authority() {
    require_programs({"openssl"});
    self_ = made(folder_.path(), "authority", {});
}

Identity Authority::issue(const std::string& name) const {
    return made(folder_.path(), name,
                {"-CA", self_.certificate, "-CAkey", self_.key, "-addext", "subjectAltName=" + name});
}

/// The front's thread and everything it works with.
class TlsFront::Relay {
  public:
    Relay(unsigned short target, const Identity& identity)
        : target_(loopback(target)), acceptor_(io_, loopback(0)), port_(acceptor_.local_endpoint().port()) {
        context_.use_certificate_chain_file(identity.certificate);
        context_.use_private_key_file(identity.key, ssl::context::pem);
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }

    ~Relay() {
        io_.stop();
        thread_.join();
    }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    unsigned short port() const { return port_; }

    std::vector<std::string> names() const {
        const std::scoped_lock lock(mutex_);
        return names_;
    }

  private:
    asio::awaitable<void> accept() {
        for (;;) {
            auto pair =
                std::make_shared<Pair>(co_await acceptor_.async_accept(asio::use_awaitable), context_);
            asio::co_spawn(io_, connect(std::move(pair)), asio::detached);
        }
    }

    asio::awaitable<void> connect(SharedPair pair) {
        error_code failed;
        co_await pair->client.async_handshake(ssl::stream_base::server,
                                              asio::redirect_error(asio::use_awaitable, failed));
        note_name(pair->client);
        if (!failed)
            co_await pair->server.async_connect(target_, asio::redirect_error(asio::use_awaitable, failed));
        if (failed) co_return;
        asio::co_spawn(io_, pass(pair, pair->client, pair->server), asio::detached);
        asio::co_spawn(io_, pass(pair, pair->server, pair->client), asio::detached);
    }

    void note_name(Tls& client) {
        const char* const name = SSL_get_servername(client.native_handle(), TLSEXT_NAMETYPE_host_name);
        const std::scoped_lock lock(mutex_);
        names_.emplace_back(name == nullptr ? "" : name);
    }

    const tcp::endpoint target_;
    ssl::context context_{ssl::context::tls_server};
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    const unsigned short port_;
    mutable std::mutex mutex_;  ///< guards what follows
    std::vector<std::string> names_;
    std::thread thread_;  ///< last: uses all of the above
};

TlsFront::TlsFront(unsigned short target, const Identity& identity)
    : relay_(std::make_unique<Relay>(target, identity)) {}

TlsFront::~TlsFront() = default;

unsigned short TlsFront::port() const {
    return relay_->port();
}

std::vector<std::string> TlsFront::names() const {
    return relay_->names();
}

}  // namespace epilogue::testing
