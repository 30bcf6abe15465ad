// The summaries, as a transaction sees them.
#include <algorithm>

#include "tests/sim/session.h"

namespace epilogue::sim {

const SummaryRow* SimTransaction::summary(const TurnId& turn) const {
    const auto changed = open_->changes.put_summaries.find(turn);
    if (changed != open_->changes.put_summaries.end()) return &changed->second;
    const auto found = database_.summaries.find(turn);
    return found == database_.summaries.end() ? nullptr : &found->second;
}

Result<void> SimTransaction::insert_summaries(const std::vector<SummaryRow>& rows) {
    TRY_VOID(statement());
    for (const SummaryRow& row : rows) {
        open_->changes.summaries.push_back(row);
        open_->changes.summaries.back().created_at = database_.now();
    }
    return {};
}

Result<std::optional<SummaryRow>> SimTransaction::summary_of(const std::string& conversation_id,
                                                             const std::string& turn_key) {
    TRY_VOID(statement());
    const SummaryRow* row = summary({conversation_id, turn_key});
    return row == nullptr ? std::optional<SummaryRow>() : std::optional(*row);
}

Result<std::optional<SummaryRow>> SimTransaction::lock_summary(const TurnId& turn) {
    TRY_VOID(statement());
    TRY_VOID(lock('s', turn.conversation_id + '/' + turn.turn_key));
    const SummaryRow* row = summary(turn);
    return row == nullptr ? std::optional<SummaryRow>() : std::optional(*row);
}

Result<void> SimTransaction::put_summary(const SummaryRow& row) {
    TRY_VOID(statement());
    TRY_VOID(lock('s', row.conversation_id + '/' + row.turn_key));
    open_->changes.put_summaries[{row.conversation_id, row.turn_key}] = row;
    return {};
}

Result<std::vector<TurnId>> SimTransaction::owed_summaries(std::size_t limit) {
    TRY_VOID(statement());
    const Instant now = database_.now();
    std::vector<TurnId> turns;
    for (const TurnId& turn : database_.owed_summaries) {
        const auto& lease_until = database_.summaries.at(turn).lease_until;
        if ((!lease_until || *lease_until <= now) && turns.size() < limit) turns.push_back(turn);
    }
    return turns;
}

}  // namespace epilogue::sim
