#include "worker/agents/reconciler.h"

#include <vector>

#include "base/instant.h"
#include "base/mutant.h"
#include "base/under_way.h"
#include "worker/agents/server_room.h"
#include "worker/apply/hindered_callbacks.h"
#include "worker/apply/own_partition.h"
#include "worker/apply/reconcile_request.h"
#include "worker/apply/transition.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/leased_rows.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t sweep_rows = 200;
constexpr std::chrono::seconds sweep_every{1};
constexpr std::chrono::seconds lease{120};

/// True while the row is as `taken` left it: no worker took it over, and no request took its place.
bool is_ours(const std::optional<ReconcileRow>& row, const ReconcileRow& taken) {
    if (mutant(Mutant::question_forgotten_before_answer)) return true;
    return row && row->owner == taken.owner && row->attempts == taken.attempts;
}

/// When it was taken: the server was asked after that.
Instant begun_at(const ReconcileRow& taken) {
    return taken.next_try_at - lease;
}

/// What its callbacks say while the server is asked again, and once it is not.
std::string asked_again(const LogReadError& why, Instant until) {
    const Instant second = std::chrono::floor<std::chrono::seconds>(until);
    return why.text + "; it is asked again until " + to_sql(second).substr(0, to_sql(second).find('.')) +
           " UTC";
}
std::string asked_no_more(const LogReadError& why) {
    return why.text + "; it is not asked any more (epilogue callbacks wake asks again)";
}

/// Why a request is over before its server was asked; empty: it is not over.
std::string_view why_over(const ReconcileRow& row, const Conversation& conversation, Instant now) {
    if (row.why == ReconcileReason::gap) return "";
    if (row.why == ReconcileReason::registered) return is_in_doubt(conversation, now) ? "" : "told";
    const auto* open = std::get_if<Open>(&conversation.turn_state);
    return open != nullptr && open->asked ? "" : "too_late";
}

}  // namespace

Reconciler::Reconciler(Store& store, const Planner& planner, AgentLogSource logs, ReconcileRules rules,
                       ReconcileObserver observer)
    : store_(store),
      planner_(planner),
      logs_(std::move(logs)),
      rules_(std::move(rules)),
      observer_(std::move(observer)),
      gaps_(store, planner, {rules_.topic, rules_.group, rules_.batch}),
      queue_({.threads = reconciler_threads,
              .thread_name = "catch-up",
              .sweeper_name = "catch-up sweep",
              .sweep_every = sweep_every,
              .max_per_group = mutant(Mutant::neighbours_held_up) ? reconciler_threads
                                                                  : room_of_one_server(reconciler_threads)}) {
}

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
    std::vector<DueReconcile> due;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(due, transaction.reconciles().due(swept_, sweep_rows));
        return {};
    }));
    // What waits for a server that hangs stays due: the next step has to see what is behind it.
    swept_ = due.size() < sweep_rows ? std::nullopt : std::optional(due.back());
    for (DueReconcile& row : due) queue_.add({std::move(row.conversation_id), row.hindrance});
    return {};
}

Result<void> Reconciler::work_at(Task task, const std::stop_token& stop) {
    const auto joined = join_server(queue_, task, [&](const ConversationId& id) -> Result<std::string> {
        // Who did not answer may take all the time that there is: they share what one server has.
        if (task.hindrance == Hindrance::unreachable && !mutant(Mutant::neighbours_held_up)) return "silent";
        TRY(const std::string server, logs_.server_of(id));
        return task.hindrance == Hindrance::failed ? server + " (unreadable)" : server;
    });
    if (joined && !*joined) return {};
    auto done = joined ? reconcile(task.conversation_id, stop) : Result<void>(Failure(joined.error()));
    queue_.done(task);
    return done;
}

Result<void> Reconciler::reconcile(const ConversationId& conversation_id, const std::stop_token& stop) {
    const WorkingAt note(leased_catch_up, conversation_id);
    TRY(const auto taken, take(conversation_id));
    if (!taken) return {};
    if (taken->crashes >= most_crashes)
        return give_up(*taken, {Hindrance::unusable, "reading its log ended two workers"});
    auto log = read(*taken, stop);
    if (log && taken->why == ReconcileReason::registered && !has_begun(*log))
        log = tl::unexpected(LogReadError{Hindrance::not_begun, "the conversation has not begun"});
    if (log) return apply(*taken, *log);
    if (stop.stop_requested()) return hand_back(*taken, Micros{0});
    const VainQuestion question{taken->why, log.error().why, taken->attempts,
                                begun_at(*taken) - taken->asked_at, log.error().retry_after};
    if (const auto pause = pause_after(question, rules_.patience))
        return put_off(*taken, log.error(), *pause);
    return give_up(*taken, log.error());
}

tl::expected<ServerLog, LogReadError> Reconciler::read(const ReconcileRow& taken,
                                                       const std::stop_token& stop) const {
    if (logs_.look && taken.hindrance != Hindrance::unreachable)
        if (auto hindered = logs_.look(taken.conversation_id, stop))
            return tl::unexpected(std::move(*hindered));
    return logs_.read(taken.conversation_id, stop);
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
            TRY_VOID(step_callbacks(transaction, conversation_id, LogRead{}));
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

Result<void> Reconciler::finish(const ReconcileRow& taken, const CallbackEvent& told,
                                const std::function<Result<std::string_view>(Transition&)>& change) {
    const ConversationId& id = taken.conversation_id;
    BatchReport report;
    std::string_view result;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        result = {};
        TRY(const auto own, own_partition_of(transaction, id, rules_.topic, rules_.group));
        TRY(const Instant now, transaction.now());
        Transition transition(transaction, planner_, rules_.batch, own.row, now);
        TRY_VOID(transition.load({id}, own.id));
        TRY(const auto row, transaction.reconciles().lock(id));
        if (!is_ours(row, taken)) return {};
        TRY(result, change(transition));
        TRY_VOID(transition.write());
        if (own.is_guess) TRY_VOID(transaction.conversations().note_guess(id));
        TRY_VOID(step_callbacks(transaction, id, told));
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
    FoldRules rules;
    rules.settle = rules_.batch.settle;
    rules.hook_wait = rules_.batch.hook_wait;
    if (const auto pause = unsettled_for(log, begun_at(taken), rules)) return hand_back(taken, *pause);
    return finish(taken, LogRead{}, [&](Transition& transition) -> Result<std::string_view> {
        if (mutant(Mutant::disproved_silence_counted) && taken.why == ReconcileReason::inactivity) {
            transition.let_inactivity_count();
            return name_of(Recovered::silent);
        }
        TRY(const Recovered recovered, transition.replay_agent_log(log, {}));
        return name_of(recovered);
    });
}

Result<void> Reconciler::give_up(const ReconcileRow& taken, const LogReadError& why) {
    if (taken.why != ReconcileReason::gap || is_told(taken.why, why.why))
        log_warn("the agent server did not tell what became of a conversation",
                 {{"conversation", taken.conversation_id},
                  {"asked_for", std::string(name_of(taken.why))},
                  {"why", why.text}});
    const CallbackEvent told =
        is_told(taken.why, why.why) ? CallbackEvent(LogUnread{asked_no_more(why)}) : CallbackEvent(LogRead{});
    return finish(taken, told, [&](Transition& transition) -> Result<std::string_view> {
        transition.let_inactivity_count();
        if (taken.why == ReconcileReason::gap) transition.watch_unread();
        return name_of(why.why);
    });
}

Result<void> Reconciler::put_off(const ReconcileRow& taken, const LogReadError& why,
                                 std::chrono::seconds pause) {
    const ConversationId& id = taken.conversation_id;
    const Instant until = asked_until(taken.why, taken.asked_at, rules_.patience);
    const auto work = [&](Transaction& transaction) -> Result<void> {
        // The order of locks: the conversation first, as everywhere.
        TRY_VOID(transaction.conversations().lock_one(id));
        TRY(const auto row, transaction.reconciles().lock(id));
        if (!is_ours(row, taken)) return {};
        if (is_told(taken.why, why.why))
            TRY_VOID(step_callbacks(transaction, id, LogUnread{asked_again(why, until)}));
        TRY(const Instant now, transaction.now());
        ReconcileRow again = taken;
        again.next_try_at = now + pause;
        again.owner.clear();
        again.hindrance = why.why;
        return transaction.reconciles().update(again);
    };
    return store_.transact_idempotent(work);
}

Result<void> Reconciler::hand_back(const ReconcileRow& taken, Micros pause) {
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(const auto row, transaction.reconciles().lock(taken.conversation_id));
        if (!is_ours(row, taken)) return {};
        TRY(const Instant now, transaction.now());
        ReconcileRow again = taken;
        again.next_try_at = now + pause;
        again.owner.clear();
        --again.attempts;
        return transaction.reconciles().update(again);
    };
    return store_.transact_idempotent(work);
}

}  // namespace epilogue
