// What a MySQL client asks for, read off the bytes it sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::testing {

/// Kinds of what a client sends.
enum class Request {
    any,  ///< in a plan: each of the others
    begin,
    commit,
    rollback,
    prepare,    ///< a statement's text, not yet its execution
    statement,  ///< any other statement, as text or prepared
    other,      ///< logging in, leaving, and everything of another protocol
};

/// A request as it is on the wire.
struct WireRequest {
    std::string bytes;
    Request kind = Request::other;
    std::string text;  ///< the statement's, also of a prepared one; empty for `other`
};

/// One connection's conversation, both sides fed in the order in which the bytes come. After a change to TLS
/// every piece is `other`. Not thread-safe.
class MysqlRequests {
  public:
    /// The requests that are complete with these bytes.
    std::vector<WireRequest> from_client(std::string_view bytes);
    void from_server(std::string_view bytes);

    /// The server's number for this session, what KILL takes; 0 before its greeting.
    std::int64_t session() const { return session_; }

  private:
    enum class Awaited { greeting, prepared_id, nothing };

    WireRequest request_of(std::string packet);

    std::string from_client_;
    std::string from_server_;
    Awaited awaited_ = Awaited::greeting;
    bool logged_in_ = false;
    bool opaque_ = false;
    std::int64_t session_ = 0;
    std::string being_prepared_;
    std::map<std::uint32_t, std::string> prepared_;
};

}  // namespace epilogue::testing
