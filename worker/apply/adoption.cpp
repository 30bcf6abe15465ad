#include "worker/apply/adoption.h"

#include "base/ids.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "schemas/decode.h"
#include "sinks/processor.h"
#include "worker/apply/registration.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds look_every{2};
constexpr std::size_t rows_at_once = 500;

}  // namespace

void Adopter::run(const std::stop_token& stop) {
    RateLimitedLog complaints;
    while (!stop.stop_requested()) {
        if (const auto adopted = adopt_all(); !adopted)
            complaints.warn("adoption", "callbacks of others wait to be adopted",
                            {{"why", adopted.error().text}});
        wait_or_stop(stop, look_every);
    }
}

Result<std::size_t> Adopter::adopt_all() {
    std::size_t count = 0;
    while (true) {
        std::vector<CallbackId> ids;
        TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(ids, transaction.callbacks().unadopted(rows_at_once));
            return {};
        }));
        for (const CallbackId id : ids) {
            TRY(const bool adopted, adopt(id));
            if (!adopted) continue;
            ++count;
            adopted_();
        }
        if (ids.size() < rows_at_once) return count;
    }
}

Result<bool> Adopter::adopt(CallbackId id) {
    bool adopted = false;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        adopted = false;
        TRY(const auto unlocked, transaction.callbacks().read_unadopted(id));
        if (!unlocked) return {};
        // The order of locks: the conversation first, as everywhere, so that of two transactions the second
        // sees what the first did.
        CallbackRow row;
        row.id = id;
        row.conversation_id = normalise_conversation_id(unlocked->conversation_id);
        TRY(const Conversation conversation, transaction.conversations().lock_one(row.conversation_id));
        TRY(const auto foreign, transaction.callbacks().lock_unadopted(id));
        if (!foreign) return {};
        row.processor_type = foreign->processor_type;
        row.processor_json = foreign->processor_json;
        row.options.told = foreign->told;
        const bool old = !foreign->created_at || *foreign->created_at + rules_.max_age < rules_.installed_at;
        if (old) row.state.phase = Phase::dormant;
        const auto processor = decode_processor(row.processor_type, row.processor_json);
        if (!processor) row.state = step(row.state, row.options, RowFound{processor.error().text}).state;
        TRY_VOID(transaction.callbacks().insert_progress(row));
        adopted = true;
        if (row.state.phase == Phase::error) return transaction.callbacks().update_state(id, row.state);
        if (row.state.phase != Phase::watching) return {};
        TRY(const Instant now, transaction.now());
        return begin_watch(transaction, planner_, conversation, row, now, rules_.watch);
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto foreign, transaction.callbacks().lock_unadopted(id));
        return !foreign;
    };
    TRY_VOID(store_.transact(work, is_done));
    return adopted;
}

}  // namespace epilogue
