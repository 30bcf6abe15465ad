#include "worker/apply/equal_registration.h"

#include "sinks/processor.h"

namespace epilogue {
namespace {

/// One in phase `delivering` is ACTIVE too, but its last report is planned: it says nothing of later turns.
bool is_to_report(const CallbackState& state) {
    return state.phase == Phase::watching || state.phase == Phase::dormant;
}

}  // namespace

Result<std::optional<CallbackRow>> lock_equal(Transaction& transaction, const CallbackRow& wanted) {
    TRY(const Processor processor, decode_processor(wanted.processor_type, wanted.processor_json));
    const std::string place = describe(processor);
    TRY(auto active, transaction.callbacks().lock_active({wanted.conversation_id}));
    for (CallbackRow& row : active) {
        if (!is_to_report(row.state) || row.options.mode != wanted.options.mode ||
            row.options.triggers != wanted.options.triggers)
            continue;
        const auto other = decode_processor(row.processor_type, row.processor_json);
        if (other && describe(*other) == place && other->only_from_here == processor.only_from_here)
            return std::optional(std::move(row));
    }
    return std::optional<CallbackRow>();
}

}  // namespace epilogue
