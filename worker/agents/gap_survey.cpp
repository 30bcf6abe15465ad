#include "worker/agents/gap_survey.h"

#include <algorithm>
#include <set>
#include <string>

#include "worker/apply/hindered_callbacks.h"
#include "worker/apply/own_partition.h"
#include "worker/apply/reconcile_request.h"
#include "worker/apply/transition.h"
#include "worker/core/server_log.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/gap_rows.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t portion = 100;
/// So many requests may wait: whatever else is asked stands behind no more than these.
constexpr std::size_t most_waiting = 100;
constexpr int portions_in_a_step = 20;

std::string offsets_of(const GapRow& gap) {
    return std::to_string(gap.from.value) + " to " +
           (gap.to ? std::to_string(gap.to->value - 1) : std::string("the old log's end"));
}

}  // namespace

// Notes on its callbacks that no server can be asked. What had ended before, and is not known to have begun
// again, waits for its next turn as before; where nothing was ever read, the inactivity counts as its end.
Result<void> GapSurvey::note_no_server(Transaction& transaction, const ConversationId& id,
                                       const GapRow& gap) const {
    TRY(const Conversation conversation, transaction.conversations().lock_one(id));
    if (!is_unseen(conversation) && current_turn(conversation) == nullptr) return {};
    TRY_VOID(step_callbacks(
        transaction, id,
        LogUnread{"records of partition " + std::to_string(gap.partition) + " (offsets " + offsets_of(gap) +
                  ") were gone before they were read, and no agent server is known that "
                  "has them: epilogue conversations remember names it"}));
    if (!is_unseen(conversation)) return {};
    TRY(const auto own, own_partition_of(transaction, id, rules_.topic, rules_.group));
    TRY(const Instant now, transaction.now());
    Transition transition(transaction, planner_, rules_.batch, own.row, now);
    TRY_VOID(transition.load({id}, own.id));
    transition.watch_unread();
    TRY_VOID(transition.write());
    return own.is_guess ? transaction.conversations().note_guess(id) : Result<void>();
}

Result<void> GapSurvey::step() {
    for (int i = 0; i < portions_in_a_step; ++i) {
        TRY(const bool may_go_on, list_portion());
        if (!may_go_on) return {};
    }
    return {};
}

Result<bool> GapSurvey::list_portion() {
    std::optional<GapRow> gap;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        gap.reset();
        TRY(gap, transaction.gaps().lock_next());
        if (!gap) return {};
        TRY(const std::size_t waiting,
            transaction.reconciles().not_begun(ReconcileReason::gap, most_waiting));
        if (waiting >= most_waiting) {
            gap.reset();
            return {};
        }
        if (!gap->remaining) {
            TRY(gap->remaining, transaction.gaps().count_remaining(*gap));
        }
        TRY(const GapChunk chunk, transaction.gaps().next_chunk(*gap, portion));
        TRY(const Instant now, transaction.now());
        // Ascending, as in every transaction that locks several.
        const std::set<ConversationId> conversations(chunk.conversations.begin(), chunk.conversations.end());
        for (const ConversationId& id : conversations) {
            TRY(const bool has_server, queue_reconcile(transaction, id, ReconcileReason::gap, now,
                                                       rules_.batch.default_agent_server));
            ++(has_server ? gap->asked : gap->without_server);
            if (!has_server) TRY_VOID(note_no_server(transaction, id, *gap));
        }
        const auto looked = static_cast<std::int64_t>(chunk.conversations.size());
        gap->remaining = std::max(std::int64_t{0}, *gap->remaining - looked);
        gap->asked_until = chunk.looked_until;
        gap->is_done = gap->asked_until >= gap->last_callback;
        if (gap->is_done) gap->remaining = 0;
        return transaction.gaps().update(*gap);
    };
    // A COMMIT whose answer was lost is not asked about: the portion after it is listed then, or it again.
    TRY_VOID(store_.transact_idempotent(work));
    if (!gap) return false;
    const LogFields fields{{"partition", gap->partition},
                           {"offsets", offsets_of(*gap)},
                           {"asked", gap->asked},
                           {"without_server", gap->without_server},
                           {"remaining", *gap->remaining}};
    if (gap->is_done)
        log_info("every callback whose conversation may lie in a gap of the log is asked about", fields);
    else
        progress_.warn("gap", "conversations that may lie in a gap of the log are asked about", fields);
    return true;
}

}  // namespace epilogue
