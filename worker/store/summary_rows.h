// Rows of summaries, one for each turn of a conversation, and of what asking for them noted.
#pragma once

#include <compare>
#include <cstdint>
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

/// What a named model was used for.
struct LlmSpending {
    std::int64_t requests = 0;
    std::int64_t tokens_in = 0;
    std::int64_t tokens_out = 0;
    std::int64_t cost = 0;  ///< in millionths of the currency of its prices
    bool operator==(const LlmSpending&) const = default;
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

    /// The id of the turn's instruction: `ask_id`, unless it has one already.
    virtual Result<std::string> keep_instruction(const TurnId& turn, const std::string& ask_id) = 0;
    /// What the pool has used of a model on a day ("2026-11-23"), locked; nothing, when nothing was noted.
    virtual Result<LlmSpending> lock_llm_spending(const std::string& model, const std::string& day) = 0;
    /// Writes that, once it is locked.
    virtual Result<void> put_llm_spending(const std::string& model, const std::string& day,
                                          const LlmSpending& spending) = 0;
};

}  // namespace epilogue
