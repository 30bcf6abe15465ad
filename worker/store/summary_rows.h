// Rows of summaries: one for each turn of a conversation.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/named.h"
#include "base/result.h"

namespace epilogue {

/// One turn of a conversation.
struct TurnId {
    ConversationId conversation_id;
    TurnKey turn_key;
    auto operator<=>(const TurnId&) const = default;
};

struct SummaryRow {
    ConversationId conversation_id;
    TurnKey turn_key;
    std::string source;
    std::string body;   ///< schemas/summary.h
    bool owed = false;  ///< not frozen: made from the log alone, until the agent server has been asked
    // Of one that is owed.
    std::string status_event = {};  ///< id of the status that ended the turn
    /// The partition's clock then; nullopt: unknown, or registered late.
    std::optional<Instant> ended_at = {};
    std::string owner = {};
    Generation generation = {};
    std::optional<Instant> lease_until = {};
    int crashes = 0;          ///< of workers that worked at it; only read
    Instant created_at = {};  ///< set by the insertion
};

/// Not thread-safe; valid as long as its transaction.
class SummaryRows {
  public:
    SummaryRows() = default;
    SummaryRows(const SummaryRows&) = delete;
    SummaryRows& operator=(const SummaryRows&) = delete;
    virtual ~SummaryRows() = default;

    /// Existing rows are kept as they are.
    virtual Result<void> insert(const std::vector<SummaryRow>& rows) = 0;
    virtual Result<std::optional<SummaryRow>> find(const TurnId& turn) = 0;
    /// The same, locked.
    virtual Result<std::optional<SummaryRow>> lock(const TurnId& turn) = 0;
    /// Writes source, body, whether it is owed, owner, generation and lease.
    virtual Result<void> update(const SummaryRow& row) = 0;
    /// Turns whose summary is owed and not leased, longest waiting first.
    virtual Result<std::vector<TurnId>> owed(std::size_t limit) = 0;
};

}  // namespace epilogue
