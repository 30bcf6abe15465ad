// One connection to an event or session socket, from the name's look-up to its end. For agent's own files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/io_context.hpp>

#include "agent/socket.h"

namespace epilogue::agent {

/// How a connection ended.
struct ConnectionEnd {
    std::optional<AgentError> fatal;  ///< there is no use in another one
    std::string cause;                ///< for people
    bool too_large = false;           ///< the next event is larger than a session socket's frame may be
};

struct ConnectionEvents {
    std::function<void()> on_open;
    std::function<void(std::string)> on_frame;
    std::function<void(const ConnectionEnd&)> on_end;  ///< exactly once, the last one
};

class Connection {
  public:
    virtual ~Connection() = default;
    /// Sends the close frame; on_end follows.
    virtual void close() = 0;
    /// Ends it without a word; on_end follows.
    virtual void cut() = 0;
    /// No frame is read from now on, except one that is on its way already.
    virtual void pause() = 0;
    /// Frames are read again.
    virtual void resume() = 0;
};

/// Begins to connect; everything happens in `context`, which has one thread. `target` and `limits` have to
/// outlive on_end.
std::shared_ptr<Connection> open_connection(boost::asio::io_context& context, const SocketTarget& target,
                                            const SocketLimits& limits, ConnectionEvents events);

}  // namespace epilogue::agent
