#include "agent/socket_connection.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;
using boost::system::error_code;

using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

constexpr std::size_t max_frame = std::size_t{64} << 20U;
constexpr std::uint16_t close_unauthorised = 4001;
constexpr std::uint16_t close_not_found = 4004;
constexpr std::size_t kept_buffer = std::size_t{64} << 10U;  // thousands of connections may stand

std::string target_of(const SocketTarget& target) {
    std::string path = target.address.prefix + (target.after_seq ? "/sockets/session/" : "/sockets/events/") +
                       percent_encoded(target.conversation_id);
    if (target.after_seq) path += "?after_seq=" + std::to_string(*target.after_seq);
    if (target.auth == SocketAuth::query && !target.session_key.empty())
        path += (target.after_seq ? "&session_api_key=" : "?session_api_key=") +
                percent_encoded(target.session_key.reveal());
    return path;
}

AgentError refused_key() {
    return {AgentError::Kind::unauthorised, "the agent server refuses the session key"};
}

/// What a handshake that was answered by an HTTP status says.
ConnectionEnd declined(unsigned status) {
    const std::string cause = "the handshake was answered with status " + std::to_string(status);
    if (status == 401 || status == 403) return {refused_key(), cause, false};
    return {std::nullopt, cause, false};
}

/// What the server's close frame says.
ConnectionEnd closed(const websocket::close_reason& reason) {
    const std::string cause = "closed by the server with code " + std::to_string(reason.code);
    if (reason.code == close_unauthorised) return {refused_key(), cause, false};
    if (reason.code == close_not_found)
        return {AgentError{AgentError::Kind::not_found, "the agent server does not know the conversation"},
                cause, false};
    return {std::nullopt, cause, std::string_view(reason.reason.c_str()) == "frame_too_large"};
}

template <class Stream>
class Link final : public Connection, public std::enable_shared_from_this<Link<Stream>> {
  public:
    template <class... Context>
    Link(boost::asio::io_context& context, const SocketTarget& target, const SocketLimits& limits,
         ConnectionEvents events, Context&... tls)
        : target_(target),
          limits_(limits),
          events_(std::move(events)),
          resolver_(context),
          socket_(context, tls...) {}

    void open() {
        resolver_.async_resolve(target_.address.host, target_.address.port,
                                bound<tcp::resolver::results_type>([this](const auto& found) {
                                    if (cut_) {
                                        // The name was found just before; connecting opens what was closed.
                                        end({std::nullopt, "cut", false});
                                        return;
                                    }
                                    if (const auto refusal = egress_refusal(found); !refusal.empty()) {
                                        end({std::nullopt, refusal, false});
                                        return;
                                    }
                                    beast::get_lowest_layer(socket_).expires_after(limits_.connect);
                                    beast::get_lowest_layer(socket_).async_connect(
                                        found, bound<tcp::endpoint>([this](const auto&) { connected(); }));
                                }));
    }

    void close() override {
        closing_ = true;
        if (!open_) {
            cut();
            return;
        }
        // The read under way ends with the answer to the close frame; a second one to wait for is not needed.
        socket_.async_close(websocket::close_code::normal,
                            [self = this->shared_from_this()](error_code) { self->end({}); });
    }

    void cut() override {
        cut_ = true;
        resolver_.cancel();
        beast::get_lowest_layer(socket_).close();
    }

    void pause() override { paused_ = true; }

    void resume() override {
        if (!std::exchange(paused_, false) || reading_ || !open_ || ended_) return;
        read();
    }

  private:
    /// Why none of the addresses found may be connected to: one of them is barred. "": all may be.
    std::string egress_refusal(const tcp::resolver::results_type& found) const {
        const Address& address = target_.address;
        const auto port = static_cast<std::uint16_t>(integer_in(address.port).value_or(0));
        if (!address.egress || address.egress->allows_host(address.url_host(), port)) return "";
        for (const auto& each : found) {
            const std::string text = each.endpoint().address().to_string();
            const auto ip = parse_ip_address(text);
            const std::string_view objection = ip ? address.egress->objection(*ip) : "no internet address";
            if (!objection.empty()) return egress_refusal_of(address.url_host(), text, objection);
        }
        return "";
    }

    /// A handler that goes on with `next` when there was no error.
    template <class... Results, class Next>
    auto bound(Next next) {
        return [self = this->shared_from_this(), next](error_code error, Results... results) {
            if (error)
                self->failed(error);
            else
                next(results...);
        };
    }

    void connected() {
        error_code ignored;
        beast::get_lowest_layer(socket_).socket().set_option(tcp::no_delay(true), ignored);
        if constexpr (std::is_same_v<Stream, Tls>) {
            auto& tls = socket_.next_layer();
            tls.set_verify_callback(ssl::host_name_verification(target_.address.host));
            ask_for_host(tls);
            tls.async_handshake(ssl::stream_base::client, bound([this] { shake_hands(); }));
        } else {
            shake_hands();
        }
    }

    /// Tells the server which of its names is meant; an address is none (RFC 6066).
    void ask_for_host(Tls& tls) {
        error_code no_address;
        boost::asio::ip::make_address(target_.address.host, no_address);
        if (!no_address) return;
        // The macro for this casts in a way that our own code may not.
        std::string name = target_.address.host;
        SSL_ctrl(tls.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    }

    void shake_hands() {
        beast::get_lowest_layer(socket_).expires_never();
        const auto quiet = limits_.quiet.value_or(quiet_of({}));
        socket_.set_option(websocket::stream_base::timeout{quiet, quiet, true});
        socket_.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
            request.set(beast::http::field::user_agent, "epilogue");
            if (target_.auth == SocketAuth::header && !target_.session_key.empty())
                request.set("X-Session-API-Key", target_.session_key.reveal());
        }));
        socket_.read_message_max(max_frame);
        socket_.async_handshake(response_, target_.address.authority(), target_of(target_),
                                bound([this] { show_key(); }));
    }

    void show_key() {
        open_ = true;
        if (closing_) {
            close();
            return;
        }
        if (target_.auth != SocketAuth::first_frame || target_.session_key.empty()) {
            listen();
            return;
        }
        key_frame_ = text_of({{"type", "auth"}, {"session_api_key", target_.session_key.reveal()}});
        socket_.async_write(boost::asio::buffer(key_frame_),
                            bound<std::size_t>([this](std::size_t) { listen(); }));
    }

    void listen() {
        events_.on_open();
        if (!paused_) read();
    }

    void read() {
        reading_ = true;
        socket_.async_read(buffer_, bound<std::size_t>([this](std::size_t) {
                               std::string frame = beast::buffers_to_string(buffer_.data());
                               buffer_.clear();
                               if (buffer_.capacity() > kept_buffer) buffer_.shrink_to_fit();
                               events_.on_frame(std::move(frame));
                               reading_ = false;
                               if (!paused_) read();
                           }));
    }

    void failed(error_code error) {
        if (error == websocket::error::upgrade_declined)
            end(declined(response_.result_int()));
        else if (error == websocket::error::closed)
            end(closed(socket_.reason()));
        else
            end({std::nullopt, error.message(), false});
    }

    void end(const ConnectionEnd& how) {
        if (std::exchange(ended_, true)) return;
        events_.on_end(how);
    }

    const SocketTarget& target_;
    const SocketLimits& limits_;
    ConnectionEvents events_;
    tcp::resolver resolver_;
    websocket::stream<Stream> socket_;
    websocket::response_type response_;
    beast::flat_buffer buffer_;
    std::string key_frame_;
    bool open_ = false;
    bool closing_ = false;
    bool cut_ = false;
    bool paused_ = false;
    bool reading_ = false;
    bool ended_ = false;
};

ssl::context& tls_context() {
    static ssl::context context = [] {
        ssl::context made(ssl::context::tls_client);
        made.set_default_verify_paths();
        made.set_verify_mode(ssl::verify_peer);
        SSL_CTX_set_min_proto_version(made.native_handle(), TLS1_2_VERSION);
        return made;
    }();
    return context;
}

}  // namespace

std::shared_ptr<Connection> open_connection(boost::asio::io_context& context, const SocketTarget& target,
                                            const SocketLimits& limits, ConnectionEvents events) {
    if (target.address.tls) {
        const auto link =
            std::make_shared<Link<Tls>>(context, target, limits, std::move(events), tls_context());
        link->open();
        return link;
    }
    const auto link = std::make_shared<Link<Plain>>(context, target, limits, std::move(events));
    link->open();
    return link;
}

}  // namespace epilogue::agent
