// What summary sources read and note in the database, each in a short transaction of its own: none is open
// while they wait for an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/core/conversation.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// How much of a named model, or of another source, the whole pool may use in a day (UTC); 0: as much as it
/// likes.
struct LlmLimits {
    std::int64_t tokens = 0;
    std::int64_t cost = 0;  ///< in millionths of the currency of its prices
    std::int64_t requests = 0;
};

/// Thread-safe. Errors are the database's.
class SummaryNotes {
  public:
    SummaryNotes() = default;
    SummaryNotes(const SummaryNotes&) = delete;
    SummaryNotes& operator=(const SummaryNotes&) = delete;
    virtual ~SummaryNotes() = default;

    /// The turn as it was counted; nullopt: the conversation has ended another one since.
    virtual Result<std::optional<TurnEnd>> turn(const TurnId& turn) = 0;
    /// Notes what one answer of a model may take, and of which day it is; nullopt: its budget of today does
    /// not allow it, and nothing was noted.
    virtual Result<std::optional<std::string>> reserve(const std::string& model, const LlmSpending& most,
                                                       const LlmLimits& limits) = 0;
    /// Puts what was reserved on `day` right: `used` was used in its place.
    virtual Result<void> settle(const std::string& model, const std::string& day, const LlmSpending& reserved,
                                const LlmSpending& used) = 0;
    /// The id of the turn's one instruction to its agent, noted before it is sent; nullopt: every callback
    /// that reports the turn wants none.
    virtual Result<std::optional<std::string>> instruction(const TurnId& turn) = 0;
};

/// Over the tables.
class StoredSummaryNotes final : public SummaryNotes {
  public:
    /// `store` has to outlive it.
    explicit StoredSummaryNotes(Store& store) : store_(store) {}

    Result<std::optional<TurnEnd>> turn(const TurnId& turn) override;
    Result<std::optional<std::string>> reserve(const std::string& model, const LlmSpending& most,
                                               const LlmLimits& limits) override;
    Result<void> settle(const std::string& model, const std::string& day, const LlmSpending& reserved,
                        const LlmSpending& used) override;
    Result<std::optional<std::string>> instruction(const TurnId& turn) override;

  private:
    Store& store_;
};

/// Counts one question of the source (its name in [summary] sources), of which the whole pool may ask so many
/// in a day (UTC); 0: as many as it likes, and nothing is counted. "": it may be asked; else why not. What
/// was counted stays so, whatever comes of the question.
std::string count_question(SummaryNotes* notes, std::string_view source, std::int64_t per_day);

/// Whether a callback's processor_json lets an agent be asked for a summary in its conversation: unless it
/// says `send_summary_instruction` or `should_request_summary`, OpenHands' own flags, and they are false.
bool wants_instruction(const std::string& processor_json);

}  // namespace epilogue
