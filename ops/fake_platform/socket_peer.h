// WebSockets on the server's side: who is connected, and what is sent to them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

/// One WebSocket. Thread-safe; may outlive the connection, and then does nothing.
class SocketPeer {
  public:
    virtual ~SocketPeer() = default;
    /// Sends a text frame, after those that were sent before.
    virtual void send(std::string text) = 0;
    /// Sends a close frame with this code after what was sent before.
    virtual void close(unsigned short code) = 0;
    /// Ends the connection (RST) after what was sent before, without a close frame.
    virtual void drop() = 0;
};

/// What happens when a client asks for a WebSocket. Called from the connections' threads.
struct SocketHandlers {
    std::function<int(const Request&)> refusal;  ///< the HTTP status that refuses the handshake; 0: none
    std::function<void(const Request&, const std::shared_ptr<SocketPeer>&)> opened;  ///< empty: no WebSockets
    std::function<void(const std::shared_ptr<SocketPeer>&, const std::string&)> received;  ///< a text frame
    std::function<void(const std::shared_ptr<SocketPeer>&)> closed;  ///< nothing comes after it
};

}  // namespace epilogue::fake_platform
