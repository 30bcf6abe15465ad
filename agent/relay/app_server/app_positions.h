// How far the conversations of app servers are in the topic, kept where every relay sees it, and which relay
// reads a server. The times of leases are the store's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

/// What of a conversation's log is in the topic.
struct AppPosition {
    std::string newest{};   ///< own time of its newest event, as text; "": none is
    std::int64_t told = 0;  ///< so many of its events
    bool operator==(const AppPosition&) const = default;
};

/// What one look at a server came to.
struct AppLook {
    std::int64_t behind = 0;  ///< events that it is known to have and the topic has not
    std::string trouble{};    ///< why not all could be read; "": all could
};

/// A server is named by AppServer::name(). Thread-safe. Errors are the store's.
class AppPositions {
  public:
    AppPositions() = default;
    AppPositions(const AppPositions&) = delete;
    AppPositions& operator=(const AppPositions&) = delete;
    virtual ~AppPositions() = default;

    /// Takes the server, or keeps it, for so long; returns since when conversations that were updated may not
    /// be in the topic ("": not known), nullopt while another relay has the server.
    virtual Result<std::optional<std::string>> hold(const std::string& server, const std::string& owner,
                                                    std::chrono::seconds lease) = 0;
    /// Lets others take the server at once.
    virtual Result<void> release(const std::string& server, const std::string& owner) = 0;
    /// Nothing where another relay has the server by now.
    virtual Result<void> set_floor(const std::string& server, const std::string& owner,
                                   const std::string& floor) = 0;
    /// Likewise.
    virtual Result<void> note_look(const std::string& server, const std::string& owner,
                                   const AppLook& look) = 0;
    virtual Result<void> save(const std::string& server, const std::string& owner,
                              const ConversationId& conversation, const AppPosition& position) = 0;

    virtual Result<std::map<ConversationId, AppPosition>> positions(
        const std::vector<ConversationId>& conversations) = 0;
};

}  // namespace epilogue::relay
