// The WebSocket on which an agent server tells a conversation's events, connected again whenever it breaks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/address.h"
#include "agent/error.h"
#include "agent/features.h"
#include "base/secret.h"

namespace epilogue::agent {

/// How long a connection to such a server may be quiet. Old servers answer neither handshake nor ping while a
/// conversation waits for its LLM: longer than such a call. A newer one that is given up too early, because a
/// stop hook makes it stand still, costs a new connection and no event.
std::chrono::milliseconds quiet_of(const Features& features);

struct SocketTarget {
    Address address;
    std::string conversation_id;
    Secret session_key;
    SocketAuth auth = SocketAuth::query;
    /// Given: the session socket (Features::session_socket), which begins behind that index of the log; -1:
    /// with its first event. nullopt: the events socket.
    std::optional<std::int64_t> after_seq{};
};

struct SocketLimits {
    std::chrono::milliseconds connect{10'000};  ///< name, TCP, TLS
    /// Without any sign of life for this long the connection is given up; half of it brings a ping. nullopt:
    /// as the server's version wants it, see quiet_of().
    std::optional<std::chrono::milliseconds> quiet{};
    std::chrono::milliseconds backoff_base{1'000};
    std::chrono::milliseconds backoff_cap{30'000};
    std::chrono::milliseconds stop{1'000};  ///< for the closing handshake; then the connection is cut
};

/// All are called on the socket's own thread, one at a time, and must return soon.
struct SocketListener {
    std::function<void()> on_open;                          ///< connected, and the key was shown
    std::function<void(std::string frame)> on_frame;        ///< in the order of arrival
    std::function<void(const std::string& cause)> on_down;  ///< broken, or no connection; it tries again
    std::function<void(const AgentError&)> on_end;          ///< for good: key or conversation are refused
};

/// Connects at once, on a thread of its own.
class EventSocket {
  public:
    EventSocket(SocketTarget target, SocketListener listener, SocketLimits limits = {});
    ~EventSocket();
    EventSocket(const EventSocket&) = delete;
    EventSocket& operator=(const EventSocket&) = delete;

    /// Cuts the connection, if there is one, and connects again.
    void renew();
    /// Sends the close frame, waits at most for SocketLimits::stop, and ends the thread; nothing is called
    /// afterwards. Not from a listener.
    void stop();

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

}  // namespace epilogue::agent
