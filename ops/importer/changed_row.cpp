#include "ops/importer/changed_row.h"

#include "base/enum_names.h"
#include "worker/store/callback_rows.h"

namespace epilogue {
namespace {

constexpr EnumNames<ChangeOutcome, 3> names{{"cancelled", "replaced", "kept"}};
static_assert(names.ends_with(ChangeOutcome::kept));

constexpr EnumNames<ChangeOutcome, 3> sentences{
    {"OpenHands has done with it: its callback is cancelled",
     "OpenHands changed its processor: the callback has the new one",
     "OpenHands changed it: its callback stays as it is, for it was cancelled or has reported its turn"}};
static_assert(sentences.ends_with(ChangeOutcome::kept));

/// Nothing was posted, and nothing is about to be.
bool waits(const CallbackState& state) {
    return (state.phase == Phase::watching || state.phase == Phase::dormant) && state.last_turn_key.empty();
}

}  // namespace

std::string_view name_of(ChangeOutcome outcome) {
    return names.of(outcome);
}

std::string_view sentence_of(ChangeOutcome outcome) {
    return sentences.of(outcome);
}

Result<ChangeOutcome> follow_change(Transaction& transaction, const UpstreamTable& table,
                                    const ImportedRow& row, const Reading& reading) {
    TRY_VOID(transaction.imports().update(table, row));
    TRY(const bool is_active, transaction.imports().lock_active(row.callback_id));
    // In a statement of its own: it sees who adopted the row while this transaction waited for it.
    TRY(const auto adopted, transaction.callbacks().lock(row.callback_id));
    if (!is_active || (adopted && !waits(adopted->state))) return ChangeOutcome::kept;
    if (const auto* taken = std::get_if<TakenOver>(&reading)) {
        TRY_VOID(transaction.imports().replace_processor(row.callback_id, taken->processor_json));
        return ChangeOutcome::replaced;
    }
    if (adopted)
        TRY_VOID(transaction.callbacks().update_state(
            row.callback_id, step(adopted->state, adopted->options, CancelAsked{}).state));
    else
        TRY_VOID(transaction.imports().complete_unadopted(row.callback_id));
    return ChangeOutcome::cancelled;
}

}  // namespace epilogue
