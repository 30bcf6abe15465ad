#include "worker/agents/reconciler.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/io/kafka.h"
#include "base/mutant.h"
#include "base/under_way.h"
#include "worker/apply/reconcile_request.h"
#include "worker/apply/transition.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/leased_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {
namespace {

constexpr int threads = 4;
constexpr std::size_t sweep_rows = 64;
constexpr std::chrono::seconds sweep_every{1};
constexpr std::chrono::seconds lease{120};
/// How long after each try in vain the next one comes; after the last it is given up, unless it is because of
/// a gap: then only its server knows the end, and is asked for a day.
constexpr std::array<std::chrono::seconds, 4> pauses{
    {std::chrono::seconds{5}, std::chrono::seconds{15}, std::chrono::seconds{45}, std::chrono::seconds{120}}};
constexpr std::chrono::seconds later_pause{600};
constexpr int most_tries_after_a_gap = 148;

/// True while the row is as `taken` left it: no worker took it over, and no request took its place.
bool is_ours(const std::optional<ReconcileRow>& row, const ReconcileRow& taken) {
    if (mutant(Mutant::question_forgotten_before_answer)) return true;
    return row && row->owner == taken.owner && row->attempts == taken.attempts;
}

/// When it was taken: the server was asked after that.
Instant begun_at(const ReconcileRow& taken) {
    return taken.next_try_at - lease;
}

/// Whether a later try may do better.
bool may_change(const ReconcileRow& taken, const LogReadError& why) {
    if (why.why == LogReadError::Why::no_server || why.why == LogReadError::Why::unusable) return false;
    // A conversation that has begun is known to its server; what has not begun lies in no gap.
    if (why.why == LogReadError::Why::unknown && taken.why != ReconcileReason::registered) return false;
    const int most =
        taken.why == ReconcileReason::gap ? most_tries_after_a_gap : static_cast<int>(pauses.size());
    return taken.attempts <= most;
}

std::chrono::seconds pause_after(int attempts) {
    const auto index = static_cast<std::size_t>(attempts - 1);
    return index < pauses.size() ? pauses.at(index) : later_pause;
}

/// Why a request is over before its server was asked; empty: it is not over.
std::string_view why_over(const ReconcileRow& row, const Conversation& conversation, Instant now) {
    if (row.why == ReconcileReason::gap) return "";
    if (row.why == ReconcileReason::registered) return is_in_doubt(conversation, now) ? "" : "told";
    const auto* open = std::get_if<Open>(&conversation.turn_state);
    return open != nullptr && open->asked ? "" : "too_late";
}

}  // namespace

Reconciler::Reconciler(Store& store, const Planner& planner, ReadLog read_log, ReconcileRules rules,
                       ReconcileObserver observer)
    : store_(store),
      planner_(planner),
      read_log_(std::move(read_log)),
      rules_(std::move(rules)),
      observer_(std::move(observer)),
      gaps_(store, rules_.batch.default_agent_server),
      queue_({.threads = threads,
              .thread_name = "catch-up",
              .sweeper_name = "catch-up sweep",
              .sweep_every = sweep_every}) {}

void Reconciler::start() {
    queue_.start([this](const Task& task, const std::stop_token& stop) { complain(work_at(task, stop)); },
                 [this] { complain(sweep_once()); });
}

void Reconciler::complain(const Result<void>& done) {
    if (done) return;
    complaints_.warn("catch-up", "agent servers wait to be asked", {{"why", done.error().text}});
}

Result<void> Reconciler::sweep_once() {
    TRY_VOID(gaps_.step());
    if (!queue_.begin_sweep()) return {};
    std::vector<ConversationId> ids;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(ids, transaction.reconciles().due(sweep_rows));
        return {};
    }));
    for (ConversationId& id : ids) queue_.add({std::move(id)});
    return {};
}

Result<void> Reconciler::work_at(const Task& task, const std::stop_token& stop) {
    auto done = reconcile(task.conversation_id, stop);
    queue_.done(task);
    return done;
}

Result<void> Reconciler::reconcile(const ConversationId& conversation_id, const std::stop_token& stop) {
    const WorkingAt note(leased_catch_up, conversation_id);
    TRY(const auto taken, take(conversation_id));
    if (!taken) return {};
    if (taken->crashes >= most_crashes)
        return give_up(*taken, {LogReadError::Why::unusable, "reading its log ended two workers"});
    auto log = read_log_(conversation_id, stop);
    if (log && taken->why == ReconcileReason::registered && !has_begun(*log))
        log = tl::unexpected(LogReadError{LogReadError::Why::unknown, "it has not begun"});
    if (log) return apply(*taken, *log);
    if (may_change(*taken, log.error())) return put_off(*taken, stop.stop_requested());
    return give_up(*taken, log.error());
}

Result<std::optional<ReconcileRow>> Reconciler::take(const ConversationId& conversation_id) {
    std::optional<ReconcileRow> taken;
    std::optional<std::pair<ReconcileReason, std::string_view>> over;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        taken.reset();
        over.reset();
        // The order of locks: the conversation first, as everywhere.
        TRY(const Conversation conversation, transaction.conversations().lock_one(conversation_id));
        TRY(auto row, transaction.reconciles().lock(conversation_id));
        TRY(const Instant now, transaction.now());
        if (!row || row->next_try_at > now) return {};
        if (const auto why = why_over(*row, conversation, now); !why.empty()) {
            over.emplace(row->why, why);
            return transaction.reconciles().remove(conversation_id);
        }
        row->owner = rules_.owner;
        row->next_try_at = now + lease;
        ++row->attempts;
        TRY_VOID(transaction.reconciles().update(*row));
        taken = std::move(row);
        if (mutant(Mutant::question_forgotten_before_answer))
            return transaction.reconciles().remove(conversation_id);
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.reconciles().lock(conversation_id));
        return taken ? is_ours(row, *taken) : true;
    };
    TRY_VOID(store_.transact(work, is_done));
    if (over) observer_.over(over->first, over->second);
    return taken;
}

Result<void> Reconciler::finish(const ReconcileRow& taken,
                                const std::function<Result<std::string_view>(Transition&)>& change) {
    const ConversationId& id = taken.conversation_id;
    BatchReport report;
    std::string_view result;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        result = {};
        TRY(auto partition, transaction.conversations().partition_of(id));
        if (!partition) {
            TRY(const int known, transaction.partitions().known_count(rules_.topic));
            partition = known > 0 ? partition_of_key(id, known) : 0;
        }
        TRY(const auto stored, transaction.partitions().read({rules_.group, rules_.topic, *partition}));
        TRY(const Instant now, transaction.now());
        Transition transition(transaction, planner_, rules_.batch, stored.value_or(PartitionRow{}), now);
        TRY_VOID(transition.load({id}, *partition));
        TRY(const auto row, transaction.reconciles().lock(id));
        if (!is_ours(row, taken)) return {};
        TRY(result, change(transition));
        if (result.empty()) {
            ReconcileRow again = taken;
            again.next_try_at = now + rules_.batch.settle;
            --again.attempts;  // this try does not count: the server answered
            again.owner.clear();
            return transaction.reconciles().update(again);
        }
        TRY_VOID(transition.write());
        report = std::move(transition.report);
        return transaction.reconciles().remove(id);
    };
    TRY_VOID(store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.reconciles().lock(id));
        return !is_ours(row, taken);
    }));
    if (result.empty()) return {};
    observer_.over(taken.why, result);
    observer_.applied(report);
    return {};
}

Result<void> Reconciler::apply(const ReconcileRow& taken, const ServerLog& log) {
    return finish(taken, [&](Transition& transition) -> Result<std::string_view> {
        if (is_unsettled(log, begun_at(taken), rules_.batch.settle)) return std::string_view();
        if (mutant(Mutant::disproved_silence_counted) && taken.why == ReconcileReason::inactivity) {
            transition.let_inactivity_count();
            return name_of(Recovered::silent);
        }
        TRY(const Recovered recovered, transition.replay_agent_log(log, {}));
        return name_of(recovered);
    });
}

Result<void> Reconciler::give_up(const ReconcileRow& taken, const LogReadError& why) {
    const bool is_told = taken.why != ReconcileReason::gap || why.why != LogReadError::Why::unknown;
    if (is_told)
        log_warn("the agent server did not tell what became of a conversation",
                 {{"conversation", taken.conversation_id},
                  {"asked_for", std::string(name_of(taken.why))},
                  {"why", why.text}});
    return finish(taken, [&](Transition& transition) -> Result<std::string_view> {
        transition.let_inactivity_count();
        return name_of(why.why);
    });
}

Result<void> Reconciler::put_off(const ReconcileRow& taken, bool right_away) {
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(const auto row, transaction.reconciles().lock(taken.conversation_id));
        if (!is_ours(row, taken)) return {};
        TRY(const Instant now, transaction.now());
        ReconcileRow again = taken;
        again.next_try_at = right_away ? now : now + pause_after(taken.attempts);
        return transaction.reconciles().update(again);
    };
    return store_.transact_idempotent(work);
}

}  // namespace epilogue
