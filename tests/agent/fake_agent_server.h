// A fake agent server that does what a test tells it: REST and WebSockets on loopback, in the shapes of the
// recordings.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/server.h"
#include "ops/fake_platform/http_server.h"

namespace epilogue::testing {

/// The JSON text of an event of that time: `seconds` after a fixed moment.
std::string state_event(const std::string& id, double seconds, const std::string& key,
                        const std::string& json_value);
std::string status_event(const std::string& id, double seconds, const std::string& status);
std::string message_event(const std::string& id, double seconds, const std::string& source,
                          const std::string& text);
/// The agent's finish; without a text it is one that could not be parsed.
std::string finish_event(const std::string& id, double seconds, const std::optional<std::string>& text);
/// What a stop hook said when the agent wanted to end.
std::string stop_hook_event(const std::string& id, double seconds, bool blocked);
/// A `/goal` loop goes on, or has ended.
std::string goal_event(const std::string& id, double seconds, bool goes_on);
/// The snapshot of a run that is over, with that status.
std::string run_over(const std::string& id, double seconds, const std::string& status);
std::string error_event(const std::string& id, double seconds, const std::string& code,
                        const std::string& detail);

/// One server. Thread-safe.
class FakeAgentServer {
  public:
    using Handler = std::function<fake_platform::Reply(const fake_platform::Request&)>;

    explicit FakeAgentServer(std::string version = "1.58.0", std::string key = "key",
                             unsigned short port = 0);
    ~FakeAgentServer();

    unsigned short port() const;
    std::string url() const;
    /// A client of it, with its key or another one.
    std::shared_ptr<agent::AgentServer> client(std::optional<std::string> key = std::nullopt,
                                               agent::Deadlines deadlines = {}) const;

    /// Adds a conversation with this log and status.
    void add(const std::string& id, std::vector<std::string> log = {}, const std::string& status = "idle");
    /// Adds the fields of this JSON object to the conversation's information.
    void describe(const std::string& id, const std::string& fields);
    /// Appends to the log and sends it to all sockets; a status event changes the status.
    void emit(const std::string& id, const std::string& event);
    /// Appends to the log without a frame to the sockets.
    void append(const std::string& id, const std::string& event);
    /// Sends an event to all sockets, which the log does not have.
    void tell(const std::string& id, const std::string& frame);
    void set_status(const std::string& id, const std::string& status);
    /// The log's events.
    std::vector<std::string> log(const std::string& id) const;

    /// Answers such a request with this, instead of what it would do: `what` is "POST /run", a method and the
    /// end of a path; an empty Handler undoes it.
    void on(const std::string& what, Handler handler);
    /// Has this answer every request: what it returns is sent. `answer` does what the request wants, and is
    /// what would be sent.
    using Wrapper = std::function<fake_platform::Reply(const fake_platform::Request&,
                                                       const std::function<fake_platform::Reply()>& answer)>;
    void wrap(Wrapper wrapper);
    /// Calls this when a run is asked for (before the answer).
    void on_run(std::function<void(const std::string& id)> handler);
    /// Calls this for each socket, once it is subscribed, before its first frame; false: no first frame.
    void on_socket(std::function<bool(const std::string& id, fake_platform::SocketPeer&)> handler);
    /// Refuses handshakes with this status; 0: no longer.
    void refuse_sockets(int status);

    /// Ends all sockets as their peers' function says.
    void end_sockets(const std::function<void(fake_platform::SocketPeer&)>& how);
    /// How many sockets are subscribed to that conversation.
    std::size_t sockets(const std::string& id) const;
    /// "METHOD /path?query" of each request so far; sockets as "SOCKET /path?query".
    std::vector<std::string> seen() const;
    /// The bodies of the requests "METHOD …tail" so far.
    std::vector<std::string> bodies(const std::string& what) const;

  private:
    struct Conversation {
        std::vector<std::string> log;
        std::string status;
        std::vector<std::shared_ptr<fake_platform::SocketPeer>> peers;
        std::vector<std::shared_ptr<fake_platform::SocketPeer>> session_peers;
        std::string more = "{}";
    };
    using Shared = std::shared_ptr<fake_platform::SocketPeer>;
    /// What a socket asks for.
    struct Wanted {
        std::string id;
        std::optional<std::int64_t> after{};  ///< of a session socket
    };

    fake_platform::Reply wrapped(const fake_platform::Request& request);
    fake_platform::Reply answer(const fake_platform::Request& request);
    fake_platform::Reply answer_conversation(const fake_platform::Request& request, const std::string& id,
                                             const std::string& tail);
    fake_platform::Reply page(const Conversation& conversation, const fake_platform::Request& request) const;
    int refusal(const fake_platform::Request& request);
    void opened(const fake_platform::Request& request, const Shared& peer);
    void received(const Shared& peer, const std::string& frame);
    void closed(const Shared& peer);
    void subscribe(const Wanted& wanted, const Shared& peer);
    bool is_key(const fake_platform::Request& request) const;
    std::string info(const std::string& id, const Conversation& conversation) const;

    const std::string version_;
    const std::string key_;
    mutable std::mutex mutex_;
    std::map<std::string, Conversation> conversations_;
    std::map<std::string, Handler> handlers_;
    Wrapper wrapper_;
    std::function<void(const std::string&)> on_run_;
    std::function<bool(const std::string&, fake_platform::SocketPeer&)> on_socket_;
    std::map<Shared, Wanted> unproven_;  ///< sockets that have still to show the key, and what they want
    std::vector<std::pair<std::string, std::string>> seen_;
    int refuse_sockets_ = 0;
    std::unique_ptr<fake_platform::HttpServer> server_;
};

}  // namespace epilogue::testing
