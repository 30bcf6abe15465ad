// The summaries, as a transaction sees them.
#include <algorithm>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {

const SummaryRow* SimSummaryRows::summary(const TurnId& turn) const {
    const auto changed = transaction_.changes().put_summaries.find(turn);
    if (changed != transaction_.changes().put_summaries.end()) return &changed->second;
    const auto found = transaction_.database().summaries.find(turn);
    return found == transaction_.database().summaries.end() ? nullptr : &found->second;
}

Result<void> SimSummaryRows::insert(const std::vector<SummaryRow>& rows) {
    TRY_VOID(transaction_.statement());
    for (const SummaryRow& row : rows) {
        transaction_.changes().summaries.push_back(row);
        transaction_.changes().summaries.back().created_at = transaction_.database().now();
    }
    return {};
}

Result<std::optional<SummaryRow>> SimSummaryRows::find(const TurnId& turn) {
    TRY_VOID(transaction_.statement());
    const SummaryRow* row = summary(turn);
    return row == nullptr ? std::optional<SummaryRow>() : std::optional(*row);
}

Result<std::optional<SummaryRow>> SimSummaryRows::lock(const TurnId& turn) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('s', turn.conversation_id.text() + '/' + turn.turn_key));
    const SummaryRow* row = summary(turn);
    return row == nullptr ? std::optional<SummaryRow>() : std::optional(*row);
}

Result<void> SimSummaryRows::update(const SummaryRow& row) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('s', row.conversation_id.text() + '/' + row.turn_key));
    transaction_.changes().put_summaries[{row.conversation_id, row.turn_key}] = row;
    return {};
}

Result<std::vector<TurnId>> SimSummaryRows::owed(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const Instant now = transaction_.database().now();
    std::vector<TurnId> turns;
    for (const TurnId& turn : transaction_.database().owed_summaries) {
        const auto& lease_until = transaction_.database().summaries.at(turn).lease_until;
        if ((!lease_until || *lease_until <= now) && turns.size() < limit) turns.push_back(turn);
    }
    return turns;
}

Result<std::string> SimSummaryRows::keep_instruction(const TurnId& turn, const std::string& ask_id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('i', turn.conversation_id.text() + '/' + turn.turn_key));
    const auto known = transaction_.database().instructions.find(turn);
    if (known != transaction_.database().instructions.end()) return known->second;
    return transaction_.changes().instructions.try_emplace(turn, ask_id).first->second;
}

Result<LlmSpending> SimSummaryRows::lock_llm_spending(const std::string& model, const std::string& day) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('l', model + '/' + day));
    const auto& known = transaction_.database().llm_spending;
    const auto found = known.find({model, day});
    return found == known.end() ? LlmSpending{} : found->second;
}

Result<void> SimSummaryRows::put_llm_spending(const std::string& model, const std::string& day,
                                              const LlmSpending& spending) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().llm_spending[{model, day}] = spending;
    return {};
}

}  // namespace epilogue::sim
