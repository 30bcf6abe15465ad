// When the inactivity of an open turn counts (contract §4a): the part of fold.h that judges time alone.
#include <algorithm>
#include <array>
#include <string_view>

#include "worker/core/fold.h"

namespace epilogue {
namespace {

/// Inactivity is to be expected in these states: a person has to act, or nothing was asked of the agent
/// yet.
bool rests(const Conversation& conversation) {
    constexpr std::array<std::string_view, 5> resting{"paused", "waiting_for_confirmation", "rate_limited",
                                                      "awaiting_user_confirmation", "awaiting_user_input"};
    if (conversation.status == "idle") return !conversation.agent_since_status;
    return std::find(resting.begin(), resting.end(), conversation.status) != resting.end();
}

}  // namespace

bool would_time_out(const Conversation& conversation, Instant now, const InactivityRules& rules) {
    const auto* open = std::get_if<Open>(&conversation.turn_state);
    if (!open || !open->due || *open->due > now || !rules.watched_since) return false;
    return !rules.returned_at || *rules.returned_at + rules.after <= now;
}

Conversation watch_inactivity(Conversation conversation, const InactivityRules& rules) {
    auto* open = std::get_if<Open>(&conversation.turn_state);
    if (!open) return conversation;
    open->due.reset();
    open->asked = false;
    if (!rules.watched_since || rests(conversation)) return conversation;
    Instant since = *rules.watched_since;
    if (conversation.last_event_at) since = std::max(since, *conversation.last_event_at);
    if (rules.returned_at) since = std::max(since, *rules.returned_at);
    open->due = since + rules.after;
    return conversation;
}

bool was_last_heard_before_gap(const Conversation& conversation, const InactivityRules& rules) {
    return rules.gap_at && (!conversation.heard_at || *conversation.heard_at < *rules.gap_at);
}

}  // namespace epilogue
