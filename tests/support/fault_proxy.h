// A TCP proxy that breaks connections where a test wants them broken.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/support/mysql_requests.h"

namespace epilogue::testing {

/// What happens at a request. "Cut" means both sides of the connection.
enum class ProxyAction {
    lose_request,  ///< cut before the server has seen it
    cut_behind,    ///< cut as soon as it is sent on: the server does it, sooner or later
    lose_answer,   ///< cut when the answer comes: the server has done it
    kill_session,  ///< the server's session is killed, then the request is sent on
    hold,          ///< sent on at release(); the client waits meanwhile
    deliver_late,  ///< the client's side is cut at once; the server gets the request at release()
};

/// One planned fault. With Wire::bytes each piece that a client sends is a request of kind `other`, and its
/// own text: for HTTP that is a whole request as long as it is small.
struct ProxyFault {
    ProxyAction action = ProxyAction::lose_request;
    Request at = Request::any;
    std::string containing = {};  ///< only requests with this in their text
    std::size_t after = 0;        ///< so many of these pass first
    std::size_t times = 1;
    bool reset = false;  ///< cut by RST, as when a host is gone, and not by FIN
};

/// How the network is, for every connection and both directions.
struct Network {
    bool refuses = false;                ///< each new connection is reset at once
    bool stalls = false;                 ///< nothing passes, nothing is lost: a black hole until it ends
    std::chrono::milliseconds delay{0};  ///< before each piece
    std::size_t bytes_per_second = 0;    ///< 0: as fast as it can
    std::size_t slice = 0;               ///< bytes sent at once; 0: as they come
};

struct ProxyCounts {
    std::size_t connections = 0;  ///< accepted, refused ones too
    std::size_t refused = 0;      ///< by Network::refuses or because the server does not listen
    std::size_t cut = 0;          ///< connections ended by a fault or by cut_all()
    std::size_t lost_requests = 0;
    std::size_t cut_behind = 0;
    std::size_t lost_answers = 0;
    std::size_t killed_sessions = 0;
    std::size_t held = 0;       ///< by hold or deliver_late, ever
    std::size_t held_now = 0;   ///< and not released yet
    std::size_t late = 0;       ///< handed to the server after their client was cut
    std::size_t late_lost = 0;  ///< not handed over, because the server had ended the session meanwhile
    std::size_t bytes_to_server = 0;
    std::size_t bytes_to_client = 0;
};

/// What is spoken through it.
enum class Wire { bytes, mysql };

/// Listens on a free port of 127.0.0.1 and passes everything on to a port of 127.0.0.1, on a thread of its
/// own. What is planned or set counts from then on, also for open connections. Thread-safe. Errors are
/// std::runtime_error.
class FaultProxy {
  public:
    /// Ends a session of the server (KILL), not through this proxy.
    using KillSession = std::function<void(std::int64_t session)>;

    /// `kill_session` is needed for ProxyAction::kill_session alone; it is called on the proxy's thread. When
    /// it throws nothing was killed.
    explicit FaultProxy(unsigned short target, Wire wire = Wire::bytes, KillSession kill_session = {});
    ~FaultProxy();
    FaultProxy(const FaultProxy&) = delete;
    FaultProxy& operator=(const FaultProxy&) = delete;

    unsigned short port() const;

    /// Adds a fault; of several that fit a request the oldest happens.
    void plan(const ProxyFault& fault);
    /// Forgets the faults that have not happened.
    void forget_plans();
    /// Releases every request that is held now.
    void release();

    void set(const Network& network);
    /// Cuts every open connection; returns how many.
    std::size_t cut_all(bool reset = false);
    /// Nothing passes any more on connections that are open now, and no end of them is told; others are
    /// whole.
    void half_open_all();

    ProxyCounts counts() const;

  private:
    class Relay;
    std::unique_ptr<Relay> relay_;
};

}  // namespace epilogue::testing
