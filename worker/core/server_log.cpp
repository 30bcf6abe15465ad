#include "worker/core/server_log.h"

#include <algorithm>
#include <array>

#include "worker/core/fold.h"

namespace epilogue {
namespace {

bool is_newer(const Event& event, const Conversation& conversation) {
    if (!conversation.newest) return true;
    return event.timestamp && *event.timestamp > *conversation.newest;
}

}  // namespace

bool is_untold(const Conversation& conversation) {
    return std::holds_alternative<NoTurn>(conversation.standing) && !conversation.last;
}

std::span<const Event> missed(const Conversation& conversation, const std::vector<Event>& log) {
    const auto& recent = conversation.recent;
    const auto last_known = std::find_if(log.rbegin(), log.rend(), [&](const Event& event) {
        return std::find(recent.begin(), recent.end(), event.id) != recent.end();
    });
    const auto first = std::find_if(last_known.base(), log.end(), [&](const Event& event) {
        return could_steer(event) && is_newer(event, conversation);
    });
    return {first, log.end()};
}

bool is_current(const ServerLog& log) {
    const auto last = std::find_if(log.events.rbegin(), log.events.rend(), [](const Event& event) {
        return std::holds_alternative<StatusChange>(event.body);
    });
    return last != log.events.rend() && std::get<StatusChange>(last->body).status == log.status;
}

bool has_ended(const ServerLog& log) {
    constexpr std::array<std::string_view, 3> ends{"finished", "error", "stuck"};
    return is_current(log) && std::find(ends.begin(), ends.end(), log.status) != ends.end();
}

}  // namespace epilogue
