#include "worker/core/server_log.h"

#include <algorithm>
#include <array>

#include "base/mutant.h"
#include "worker/core/server_clock.h"

namespace epilogue {
namespace {

/// Of the same moment as the newest that is known, only what would be known by its id is new.
bool is_newer(const Event& event, const Conversation& conversation) {
    if (!conversation.newest) return true;
    const bool has_known_id = !std::holds_alternative<AgentAction>(event.body);
    return event.timestamp && (*event.timestamp > *conversation.newest ||
                               (has_known_id && *event.timestamp == *conversation.newest));
}

const Event* last_status(const ServerLog& log) {
    const auto last = std::find_if(log.events.rbegin(), log.events.rend(), [](const Event& event) {
        return std::holds_alternative<StatusChange>(event.body);
    });
    return last == log.events.rend() ? nullptr : &*last;
}

/// What a stop hook said behind `end`; nullptr: nothing yet.
const Event* verdict_behind(const ServerLog& log, const Event* end) {
    for (const Event* event = &log.events.back(); event != end; --event)
        if (std::holds_alternative<StopHookVerdict>(event->body)) return event;
    return nullptr;
}

bool has_stop_hook(const ServerLog& log) {
    const auto newest = std::find_if(log.events.rbegin(), log.events.rend(),
                                     [](const Event& event) { return event.has_stop_hook.has_value(); });
    return log.has_stop_hook || (newest != log.events.rend() && *newest->has_stop_hook);
}

/// Where the server's clock was moved from the zone `before` to `after`: the first event behind that.
std::size_t moved_at(const std::vector<Event>& events, std::chrono::minutes before,
                     std::chrono::minutes after) {
    std::size_t found = events.size();
    Micros largest{0};
    for (std::size_t i = 1; i < events.size(); ++i) {
        if (!events[i].timestamp || !events[i - 1].timestamp) continue;
        Micros step = *events[i].timestamp - *events[i - 1].timestamp;
        if (after < before) step = -step;
        if (step <= largest) continue;
        largest = step;
        found = i;
    }
    constexpr std::chrono::minutes least{10};
    return largest >= least ? found : events.size();
}

/// A zone that is read off one difference, and how far from it that is.
struct ReadZone {
    std::chrono::minutes zone{0};
    Micros off{0};
};
ReadZone zone_of(Instant own, Instant true_time) {
    const Micros difference = own - true_time;
    const std::chrono::minutes zone = nearest_zone(difference);
    const Micros off = difference - zone;
    return {zone, off < Micros{0} ? -off : off};
}

bool opens_a_turn(const Event& event) {
    constexpr std::array<std::string_view, 4> statuses{"running", "finished", "error", "stuck"};
    if (const auto* change = std::get_if<StatusChange>(&event.body))
        return std::find(statuses.begin(), statuses.end(), change->status) != statuses.end();
    return could_steer(event) && !std::holds_alternative<ErrorDetail>(event.body);
}

}  // namespace

void correct_times(ServerLog& log, std::optional<Instant> created_at, std::optional<Instant> updated_at) {
    auto& events = log.events;
    const auto is_local = [](const Event& event) {
        return event.schema == Schema::v1 && event.timestamp && !event.is_utc;
    };
    if (events.empty() || !created_at || !updated_at ||
        !std::all_of(events.begin(), events.end(), is_local) || mutant(Mutant::zone_not_learned))
        return;
    const ReadZone first = zone_of(*events.front().timestamp, *created_at);
    const ReadZone last = zone_of(*events.back().timestamp, *updated_at);
    if (!is_possible_zone(first.zone) || !is_possible_zone(last.zone)) return;
    std::chrono::minutes before = first.zone;
    std::chrono::minutes after = last.zone;
    const std::size_t moved = before == after ? events.size() : moved_at(events, before, after);
    if (before != after && moved == events.size())  // it was left alone for long at its beginning, or its end
        before = after = last.off <= first.off ? last.zone : first.zone;
    for (std::size_t i = 0; i < events.size(); ++i) {
        *events[i].timestamp -= i < moved ? before : after;
        events[i].is_utc = true;
    }
    log.zone = after;
}

bool is_unseen(const Conversation& conversation) {
    return std::holds_alternative<NoTurn>(conversation.turn_state) && !conversation.last;
}

std::span<const Event> missed(const Conversation& conversation, const std::vector<Event>& log) {
    if (mutant(Mutant::known_events_missed)) return log;
    const auto& recent = conversation.recent;
    const auto last_known = std::find_if(log.rbegin(), log.rend(), [&](const Event& event) {
        return std::find(recent.begin(), recent.end(), event.id) != recent.end();
    });
    const auto first = std::find_if(last_known.base(), log.end(), [&](const Event& event) {
        return could_steer(event) && is_newer(event, conversation);
    });
    return {first, log.end()};
}

bool has_begun(const ServerLog& log) {
    return std::any_of(log.events.begin(), log.events.end(), opens_a_turn);
}

bool has_our_time(const std::vector<Event>& log, Instant now) {
    return std::all_of(log.begin(), log.end(), [&](const Event& event) {
        return event.timestamp && *event.timestamp <= now + clocks_differ;
    });
}

std::optional<Micros> unsettled_for(const ServerLog& log, Instant now, const FoldRules& rules) {
    const Event* last = last_status(log);
    if (last == nullptr || !has_our_time(log.events, now)) return std::nullopt;
    const std::string& status = std::get<StatusChange>(last->body).status;
    if (status != "finished" && status != "error") return std::nullopt;
    const Event* verdict = status == "finished" ? verdict_behind(log, last) : nullptr;
    const Instant since = verdict == nullptr ? *last->timestamp : *verdict->timestamp;
    if (now < since + rules.settle) return rules.settle;
    const bool awaits_hook = status == "finished" && verdict == nullptr && has_stop_hook(log);
    if (!awaits_hook || now >= since + rules.hook_wait) return std::nullopt;
    // Whole logs are read: the longer it takes, the more seldom.
    constexpr Micros longest = std::chrono::seconds(30);
    return std::min<Micros>(now - since, longest);
}

bool had_settled(const Conversation& conversation, const Event& event, const FoldRules& rules) {
    const auto* candidate = std::get_if<Candidate>(&conversation.turn_state);
    return candidate != nullptr && candidate->at && event.timestamp &&
           *event.timestamp >= *candidate->at + (candidate->awaits_hook ? rules.hook_wait : rules.settle);
}

std::optional<Instant> settled_by(const ServerLog& log, const Conversation& conversation, Instant now,
                                  bool at_their_time, const FoldRules& rules) {
    const auto* candidate = std::get_if<Candidate>(&conversation.turn_state);
    if (candidate != nullptr && candidate->awaits_hook) {
        const bool has_stood = candidate->at && *candidate->at + rules.hook_wait <= now;
        return has_stood && is_current(log) ? std::optional(candidate->due) : std::nullopt;
    }
    if (has_ended(log)) return due_at(conversation);
    return at_their_time && is_current(log) ? std::optional(now) : std::nullopt;
}

bool is_current(const ServerLog& log) {
    const Event* last = last_status(log);
    return last != nullptr && std::get<StatusChange>(last->body).status == log.status;
}

bool has_ended(const ServerLog& log) {
    constexpr std::array<std::string_view, 3> ends{"finished", "error", "stuck"};
    return is_current(log) && std::find(ends.begin(), ends.end(), log.status) != ends.end();
}

}  // namespace epilogue
