// What Transition makes of an agent server's log.
#include <algorithm>
#include <set>

#include "base/enum_names.h"
#include "base/mutant.h"
#include "sinks/processor.h"
#include "worker/apply/transition.h"
#include "worker/apply/unreported_end.h"
#include "worker/core/server_clock.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {
namespace {

constexpr EnumNames<Recovered, 3> recovered_names{{"silent", "alive", "ended"}};
static_assert(recovered_names.ends_with(Recovered::ended));

}  // namespace

std::string_view name_of(Recovered recovered) {
    return recovered_names.of(recovered);
}

Result<Recovered> Transition::replay_agent_log(const ServerLog& log, const Source& source) {
    StoredConversation& stored = conversations_.front();
    if (log.zone) learn_zone(stored.conversation, *log.zone);
    if (log.has_stop_hook) stored.conversation.has_stop_hook = true;
    auto& present = callbacks_of(stored.id);
    std::vector<CallbackRow*> absent;
    const bool was_unseen = is_unseen(stored.conversation);
    if (was_unseen) absent.swap(present);
    std::stable_sort(absent.begin(), absent.end(),
                     [](const auto* a, const auto* b) { return a->adopted_at < b->adopted_at; });
    if (auto* none = std::get_if<NoTurn>(&stored.conversation.turn_state)) none->due.reset();
    auto next = absent.begin();
    const auto rules = [&] {
        FoldRules made = rules_for(stored.id);
        made.keep_digest = true;
        made.inactivity.may_fire = false;
        return made;
    };
    // Records would have come when the events happened; to a conversation that is known they come late.
    const bool at_their_time =
        was_unseen && has_our_time(log.events, database_now_) && !mutant(Mutant::adoption_put_at_the_end);
    Instant at = at_their_time ? Instant{} : partition.clock.value_or(database_now_);
    std::size_t applied = 0;
    const auto arrive_before = [&](Instant moment) -> Result<void> {
        for (; next != absent.end() && (*next)->adopted_at < moment; ++next) {
            keep(stored, tick(std::move(stored.conversation), (*next)->adopted_at, rules()), source);
            TRY_VOID(start_watching(stored, {*next}));
        }
        return {};
    };
    for (const Event& event : missed(stored.conversation, log.events)) {
        if (at_their_time) {
            TRY_VOID(arrive_before(*event.timestamp));
            at = std::max(at, std::min(*event.timestamp, database_now_));
        } else if (had_settled(stored.conversation, event, rules())) {
            keep(stored, tick(std::move(stored.conversation), *due_at(stored.conversation), rules()), source);
        }
        keep(stored, fold(std::move(stored.conversation), event, at, rules()), source);
        ++applied;
    }
    if (at_their_time) TRY_VOID(arrive_before(Instant::max()));
    // What stands at the log's end counts at once when the server confirms it, else when its time is over.
    const auto settled = settled_by(log, stored.conversation, database_now_, at_their_time, rules());
    if (settled && !std::holds_alternative<Open>(stored.conversation.turn_state))
        keep(stored, tick(std::move(stored.conversation), *settled, rules()), source);
    if (next != absent.end()) TRY_VOID(start_watching(stored, {next, absent.end()}));
    stored.conversation.heard_at = database_now_;
    if (applied == 0) let_inactivity_count();
    if (!report.counted.empty()) return Recovered::ended;
    return applied > 0 ? Recovered::alive : Recovered::silent;
}

Result<void> Transition::start_watching(StoredConversation& stored,
                                        const std::vector<CallbackRow*>& callbacks) {
    std::vector<CallbackRow*> owed;
    std::set<std::pair<std::string, std::string>> places;
    for (CallbackRow* callback : callbacks) {
        callbacks_of(stored.id).push_back(callback);
        if (callback->state.phase != Phase::watching || !callback->options.from_last) continue;
        const auto place = decode_processor(callback->processor_type, callback->processor_json);
        if (!place) continue;  // its next turn puts it in error
        TRY(const bool is_owed, has_unreported_end(transaction_, stored.id, stored.conversation, *place));
        if (is_owed && places.emplace(place->sink, describe(*place)).second) owed.push_back(callback);
    }
    if (!owed.empty()) planner_.add(stored.id, *stored.conversation.last, {}, owed, plan_);
    stored.conversation = watch_inactivity(std::move(stored.conversation), rules_for(stored.id).inactivity);
    return {};
}

void Transition::watch_unread() {
    StoredConversation& stored = conversations_.front();
    stored.conversation =
        epilogue::watch_unread(std::move(stored.conversation), rules_for(stored.id).inactivity);
}

void Transition::let_inactivity_count() {
    auto* open = std::get_if<Open>(&conversations_.front().conversation.turn_state);
    if (open != nullptr && open->asked) open->due = partition.clock.value_or(database_now_);
}

}  // namespace epilogue
