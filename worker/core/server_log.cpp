#include "worker/core/server_log.h"

#include <algorithm>
#include <array>

#include "base/mutant.h"
#include "worker/core/fold.h"

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

bool opens_a_turn(const Event& event) {
    constexpr std::array<std::string_view, 4> statuses{"running", "finished", "error", "stuck"};
    if (const auto* change = std::get_if<StatusChange>(&event.body))
        return std::find(statuses.begin(), statuses.end(), change->status) != statuses.end();
    return could_steer(event) && !std::holds_alternative<ErrorDetail>(event.body);
}

}  // namespace

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
    constexpr std::chrono::seconds clocks_differ{60};
    return std::all_of(log.begin(), log.end(), [&](const Event& event) {
        return event.timestamp && *event.timestamp <= now + clocks_differ;
    });
}

bool is_unsettled(const ServerLog& log, Instant now, std::chrono::milliseconds settle) {
    const Event* last = last_status(log);
    if (last == nullptr || !has_our_time(log.events, now)) return false;
    const std::string& status = std::get<StatusChange>(last->body).status;
    return (status == "finished" || status == "error") && now < *last->timestamp + settle;
}

bool had_settled(const Conversation& conversation, const Event& event, std::chrono::milliseconds settle) {
    const auto* candidate = std::get_if<Candidate>(&conversation.turn_state);
    return candidate != nullptr && candidate->at && event.timestamp &&
           *event.timestamp >= *candidate->at + settle;
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
