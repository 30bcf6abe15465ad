#include "worker/apply/adoption.h"

#include <algorithm>
#include <set>

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
constexpr std::size_t rows_at_once = 5000;    ///< looked at by one statement
constexpr std::size_t chunks_of_a_pass = 20;  ///< between two looks at the newest rows
constexpr std::chrono::hours pass_every{1};
constexpr std::chrono::minutes settles_after{2};  ///< no transaction that inserts a row takes longer
constexpr std::size_t adopted_together = 50;      ///< in one transaction, which holds their locks

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
    Look newest;
    newest.until = settled_;
    while (!newest.is_last) {
        TRY(newest, look(newest.until));
        count += newest.adopted;
    }
    settle(newest);
    if (!passed_at_) passed_at_ = newest.at;
    if (newest.at - *passed_at_ >= pass_every && !passing_) passing_ = CallbackId{};
    for (std::size_t i = 0; passing_ && i < chunks_of_a_pass; ++i) {
        TRY(const Look passed, look(*passing_));
        count += passed.adopted;
        passing_ = passed.until;
        if (!passed.is_last) continue;
        passing_.reset();
        passed_at_ = passed.at;
    }
    return count;
}

void Adopter::settle(const Look& newest) {
    if (newest_ && newest.at - newest_->at < settles_after) return;
    if (newest_) settled_ = newest_->id;
    newest_ = Mark{newest.until, newest.at};
}

Result<Adopter::Look> Adopter::look(CallbackId after) {
    Look looked;
    UnadoptedChunk chunk;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(chunk, transaction.callbacks().unadopted(after, rows_at_once));
        TRY(looked.at, transaction.now());
        return {};
    }));
    looked.until = chunk.looked_until;
    looked.is_last = chunk.is_last;
    for (std::size_t first = 0; first < chunk.ids.size(); first += adopted_together) {
        const auto begin = chunk.ids.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t count = std::min(chunk.ids.size() - first, adopted_together);
        TRY(const std::size_t adopted, adopt({begin, begin + static_cast<std::ptrdiff_t>(count)}));
        looked.adopted += adopted;
        for (std::size_t i = 0; i < adopted; ++i) adopted_();
    }
    return looked;
}

Result<std::size_t> Adopter::adopt(const std::vector<CallbackId>& ids) {
    std::size_t adopted = 0;
    CallbackId last = ids.front();
    const auto work = [&](Transaction& transaction) -> Result<void> {
        adopted = 0;
        if (ids.size() > 1) TRY_VOID(lock_conversations(transaction, ids));
        for (const CallbackId id : ids) {
            TRY(const bool is_ours, adopt(transaction, id));
            if (!is_ours) continue;
            ++adopted;
            last = id;
        }
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto foreign, transaction.callbacks().lock_unadopted(last));
        return !foreign;
    };
    const auto done = store_.transact(work, is_done);
    if (done) return adopted;
    if (ids.size() == 1) return Failure(done.error());
    // One that cannot be adopted holds up those behind it alone.
    std::size_t one_by_one = 0;
    for (const CallbackId id : ids) {
        TRY(const std::size_t of_one, adopt(std::vector{id}));
        one_by_one += of_one;
    }
    return one_by_one;
}

Result<void> Adopter::lock_conversations(Transaction& transaction, const std::vector<CallbackId>& ids) {
    std::set<ConversationId> conversations;
    for (const CallbackId id : ids) {
        TRY(const auto unlocked, transaction.callbacks().read_unadopted(id));
        if (unlocked) conversations.insert(normalise_conversation_id(unlocked->conversation_id));
    }
    for (const ConversationId& each : conversations) TRY_VOID(transaction.conversations().lock_one(each));
    return {};
}

Result<bool> Adopter::adopt(Transaction& transaction, CallbackId id) const {
    TRY(const auto unlocked, transaction.callbacks().read_unadopted(id));
    if (!unlocked) return false;
    // The order of locks: the conversation first, as everywhere, so that of two transactions the second
    // sees what the first did.
    CallbackRow row;
    row.id = id;
    row.conversation_id = normalise_conversation_id(unlocked->conversation_id);
    TRY(const Conversation conversation, transaction.conversations().lock_one(row.conversation_id));
    TRY(const auto foreign, transaction.callbacks().lock_unadopted(id));
    if (!foreign) return false;
    row.processor_type = foreign->processor_type;
    row.processor_json = foreign->processor_json;
    row.options.told = foreign->told;
    const bool old = !foreign->created_at || *foreign->created_at + rules_.max_age < rules_.installed_at;
    if (old) row.state.phase = Phase::dormant;
    const auto processor = decode_processor(row.processor_type, row.processor_json);
    if (!processor) row.state = step(row.state, row.options, RowFound{processor.error().text}).state;
    TRY_VOID(transaction.callbacks().insert_progress(row));
    if (row.state.phase == Phase::error) {
        TRY_VOID(transaction.callbacks().update_state(id, row.state));
    } else if (row.state.phase == Phase::watching) {
        TRY(const Instant now, transaction.now());
        TRY_VOID(begin_watch(transaction, planner_, conversation, row, now, rules_.watch));
    }
    return true;
}

}  // namespace epilogue
