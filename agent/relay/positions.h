// How far each followed conversation is in the topic, kept where every relay sees it, and whose it is. The
// times of leases are the store's own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/secret.h"

namespace epilogue::relay {

/// What of a server's log is in the topic.
struct LogPosition {
    std::int64_t next = 0;  ///< so many of its events; where a server numbers them, the next one's index
    std::string last_id{};  ///< of the last of them in the log's order; "": none, or not known
    /// The server's log was replaced by another one: its indexes start again, and order nothing any more.
    bool renumbered = false;
    bool operator==(const LogPosition&) const = default;
};

/// "17 behind 0c5f…", for people.
std::string text_of(const LogPosition& position);

/// Whether both URLs are the address of one server.
bool is_same_server(const std::string& one, const std::string& other);

/// A conversation that is ours to follow until the lease ends.
struct Claim {
    ConversationId conversation_id;
    std::string server;  ///< its base URL
    Secret session_key;  ///< empty: the server takes none
    LogPosition position;
    std::int64_t generation = 0;
    std::int64_t key_mark = 0;  ///< says whether the store has another session key by now
};

/// What is still ours after a renewal.
struct HeldClaim {
    ConversationId conversation_id;
    std::int64_t generation = 0;
    std::string server;  ///< where the conversation is now
};

struct PositionUpdate {
    ConversationId conversation_id;
    std::int64_t generation = 0;
    LogPosition position;
    std::int64_t behind = 0;    ///< events that the server is known to have more
    std::string trouble{};      ///< why its server is not being read; "": it is
    bool moved = false;         ///< it is released because it has another server by now
    std::int64_t key_mark = 0;  ///< the claim's
};

struct Discovered {
    std::size_t added = 0;
    std::size_t dropped = 0;  ///< no callback waits for them any more
};

/// Thread-safe. Errors are the store's.
class Positions {
  public:
    Positions() = default;
    Positions(const Positions&) = delete;
    Positions& operator=(const Positions&) = delete;
    virtual ~Positions() = default;

    /// Adds each conversation that a callback waits for and whose server is known, takes over the addresses
    /// of those that have moved, and releases those that no callback waits for. When one does again within 30
    /// days, their positions are still known.
    virtual Result<Discovered> discover() = 0;

    /// Takes at most `limit` conversations that no relay holds, for so long; `owner` names this follower
    /// alone among those that run. A claim whose session key cannot be opened is released with that as its
    /// error.
    virtual Result<std::vector<Claim>> claim(const std::string& owner, std::size_t limit,
                                             std::chrono::seconds lease) = 0;

    /// For a follower that begins: ends the leases that `owner` has, because it takes the place of one that
    /// was killed, and the pauses of conversations whose session key stands in the configuration, which may
    /// be another one by now. Where positions end with the process there are none.
    virtual Result<void> end_leases(const std::string& /*owner*/) { return {}; }

    /// Prolongs the leases that `owner` has of those and that have not ended, and returns what it still
    /// holds.
    virtual Result<std::vector<HeldClaim>> renew(const std::string& owner,
                                                 const std::vector<ConversationId>& followed,
                                                 std::chrono::seconds lease) = 0;

    /// Stores the positions of those that `owner` still holds under that generation and lease, and returns
    /// the others: they are fenced.
    virtual Result<std::vector<ConversationId>> advance(const std::string& owner,
                                                        const std::vector<PositionUpdate>& updates) = 0;

    /// The follower was told that it does not hold the conversation any more, and goes on without it.
    virtual void fenced(const ConversationId& /*conversation*/) {}

    /// Stores the position once more and releases it; no relay takes the conversation again before `pause` is
    /// over, unless it has another session key by then, or had when it was released. False when it was
    /// fenced.
    virtual Result<bool> release(const std::string& owner, const PositionUpdate& last,
                                 std::chrono::seconds pause) = 0;
};

}  // namespace epilogue::relay
