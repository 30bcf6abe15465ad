// Rows of conversations, and the timers that stand in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"
#include "worker/core/conversation.h"

namespace epilogue {

struct StoredConversation {
    ConversationId id;
    Conversation conversation;
    bool suspended = false;             ///< its timeout is due, and kept back by the mass-timeout guard
    std::optional<Instant> resumed_at;  ///< database time at which an event of its own ended that
};

/// How many turns are inactive at the same time, in the whole pool.
struct InactivityCensus {
    std::int64_t near = 0;  ///< suspended, due about now, or resumed lately by events of their own
    std::int64_t open = 0;  ///< open turns whose inactivity is watched
};

/// Not thread-safe; valid as long as its transaction.
class ConversationRows {
  public:
    ConversationRows() = default;
    ConversationRows(const ConversationRows&) = delete;
    ConversationRows& operator=(const ConversationRows&) = delete;
    virtual ~ConversationRows() = default;

    /// Creates the rows that are missing, locks all of them and reads them, in the order of `ids`
    /// (ascending, unique).
    virtual Result<std::vector<StoredConversation>> lock(const std::vector<ConversationId>& ids,
                                                         int partition) = 0;
    /// The same for one conversation, from outside its partition: which partition it is in stays as it is.
    virtual Result<Conversation> lock_one(const ConversationId& id) = 0;
    /// Which partition a conversation is in; nullopt when no record of it was read.
    virtual Result<std::optional<int>> partition_of(const ConversationId& id) = 0;
    /// Notes of a row that exists that its partition is no more than a guess.
    virtual Result<void> note_guess(const ConversationId& id) = 0;
    virtual Result<void> update(const std::vector<StoredConversation>& rows) = 0;
    /// Ids of conversations of the partition whose timer is due at or before `clock` and not suspended,
    /// ascending by due time.
    virtual Result<std::vector<ConversationId>> due(int partition, Instant clock, std::size_t limit) = 0;
    /// Ids of suspended conversations of the partition, longest due first.
    virtual Result<std::vector<ConversationId>> suspended(int partition, std::size_t limit) = 0;
    /// Counts turns whose timeout is due in this range; those resumed since then count as well.
    virtual Result<InactivityCensus> inactivity_census(Instant from, Instant to, Instant resumed_since) = 0;
    /// The earliest due time of the partition, suspended ones left out.
    virtual Result<std::optional<Instant>> next_due(int partition) = 0;
};

}  // namespace epilogue
