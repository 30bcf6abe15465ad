// Clients of the operators' port, until the head of their request has come: it is read without a thread for
// each client, so that a slow one holds up no other. Then the request goes to the threads for its kind: a
// health check never waits behind a request for metrics or one that changes callbacks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace epilogue {

/// Whose threads answer a request.
enum class RequestKind {
    health,  ///< is the worker alive, is it ready: short answers without any wait
    api,     ///< callbacks: may wait for the database
    other,   ///< metrics, and what there is not
};

/// By the first line of a request; a path that is none of ours is `other`.
RequestKind request_kind(std::string_view head);

/// A connection whose request head has come.
struct HeardClient {
    int socket = -1;    ///< non-blocking; the gate closes it
    std::string heard;  ///< all that was read from it
    RequestKind kind = RequestKind::other;
};

struct GateRules {
    std::chrono::milliseconds head_within{5000};  ///< a client that has not sent its head by then is closed
    std::size_t longest_head = 16384;             ///< bytes; what is longer is answered as it is
    std::size_t clients = 512;                    ///< at the same time; the oldest without a head makes room
    int health_threads = 2;
    int api_threads = 1;
    int other_threads = 4;
};

/// Thread-safe.
class ConnectionGate {
  public:
    /// `serve` answers a client; called on one of the threads for its kind.
    ConnectionGate(GateRules rules, std::function<void(const HeardClient&)> serve);
    /// Lets those without a head go, and waits for those that are being answered.
    ~ConnectionGate();
    ConnectionGate(const ConnectionGate&) = delete;
    ConnectionGate& operator=(const ConnectionGate&) = delete;

    /// Takes over an accepted connection.
    void add(int socket);

  private:
    struct Clients;
    std::unique_ptr<Clients> clients_;
};

}  // namespace epilogue
