// REST calls to an agent server: one request, one answer or one error, before one deadline.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/address.h"
#include "agent/error.h"
#include "agent/features.h"
#include "agent/log_gate.h"
#include "base/io/http.h"
#include "base/secret.h"

namespace epilogue::agent {

/// How long calls may take, each as a whole.
struct Deadlines {
    /// Until the server has taken a connection, in the first call.
    std::chrono::milliseconds reach{10'000};
    /// A call that needs no LLM. Old servers stand still as a whole while one conversation waits for its LLM
    /// (architecture §4.3), so this has to be longer than an LLM call.
    std::chrono::milliseconds call{330'000};
    /// A call that asks the LLM.
    std::chrono::milliseconds llm{600'000};
    /// The first pause before a log that the server could not read is asked for again; they grow.
    std::chrono::milliseconds log_pause{1'000};
};

/// Whether a request may be sent a second time when the first one's connection broke without an answer.
enum class Repeat { never, once };

struct Call {
    std::string method = "GET";
    std::string path{};                    ///< under the server's address, encoded
    std::string body{};                    ///< JSON; empty: none
    std::chrono::milliseconds deadline{};  ///< 0: Deadlines::call
    Repeat repeat = Repeat::never;         ///< GETs are repeated in any case
    bool changes = true;     ///< false: a 5xx leaves everything as it was; GETs change nothing in any case
    std::stop_token stop{};  ///< when it is requested the call ends at once, as `closed`
};

struct Answer {
    int status = 0;  ///< 2xx
    std::string body;
};

/// One agent server. Thread-safe.
class AgentServer {
  public:
    AgentServer(Address address, Secret session_key, Deadlines deadlines = {});

    /// Sends the call. A connection that broke is tried once more where that is safe. A read that is refused
    /// for want of room (429, or 503 with Retry-After) is tried again when the server wants it, as long as
    /// that is within half a minute and the deadline.
    AgentResult<Answer> send(const Call& call) const;
    /// What the server can do. Asks /server_info once; an error is not kept. Unreachable when no connection
    /// came about within Deadlines::reach. `within` (0: Deadlines::call) and `stop` as in Call.
    AgentResult<Features> features(std::chrono::milliseconds within = {},
                                   const std::stop_token& stop = {}) const;

    const Address& address() const { return address_; }
    const Secret& session_key() const { return session_key_; }
    const Deadlines& deadlines() const { return deadlines_; }
    /// Through which its logs are read.
    LogGate& logs() const { return logs_; }

  private:
    AgentResult<Answer> send_safely(const Call& call, std::chrono::steady_clock::time_point end) const;
    AgentResult<Answer> send_once(const Call& call, std::chrono::milliseconds deadline) const;
    AgentResult<Features> ask_features(std::chrono::milliseconds within, const std::stop_token& stop) const;

    Address address_;
    Secret session_key_;
    Deadlines deadlines_;
    HttpClient http_;
    mutable LogGate logs_;
    mutable std::mutex mutex_;
    mutable std::optional<Features> features_;
};

/// The error that an answer with a status of 400 or more stands for. Of its body only the reasons are kept,
/// never the input that a 422 repeats: it may hold secrets. After a 5xx the request may have been carried
/// out, but not when it `changes` nothing, nor when the server names a reason for which it does nothing.
AgentError error_of(int status, const std::string& body, bool changes = true);

}  // namespace epilogue::agent
