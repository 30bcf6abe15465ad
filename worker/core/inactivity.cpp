// When the inactivity of an open turn counts (contract §4a): the part of fold.h that judges time alone.
#include <algorithm>
#include <array>
#include <string_view>

#include "worker/core/fold.h"
#include "worker/core/server_log.h"

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

/// Since when the conversation is inactive, as far as its callbacks watch it.
Instant silent_since(const Conversation& conversation, const InactivityRules& rules) {
    Instant since = *rules.watched_since;
    if (conversation.last_event_at) since = std::max(since, *conversation.last_event_at);
    if (rules.returned_at) since = std::max(since, *rules.returned_at);
    return since;
}

}  // namespace

bool would_time_out(const Conversation& conversation, Instant now, const InactivityRules& rules) {
    const bool may_be_silent = std::holds_alternative<Open>(conversation.turn_state) ||
                               std::holds_alternative<NoTurn>(conversation.turn_state);
    const auto due = due_at(conversation);
    if (!may_be_silent || !due || *due > now || !rules.watched_since) return false;
    return !rules.returned_at || *rules.returned_at + rules.after <= now;
}

Conversation watch_inactivity(Conversation conversation, const InactivityRules& rules) {
    if (auto* none = std::get_if<NoTurn>(&conversation.turn_state); none != nullptr && none->due) {
        if (rules.watched_since)
            none->due = std::max(*none->due, silent_since(conversation, rules) + rules.after);
        else
            none->due.reset();
    }
    auto* open = std::get_if<Open>(&conversation.turn_state);
    if (!open) return conversation;
    open->due.reset();
    open->asked = false;
    if (!rules.watched_since || rests(conversation)) return conversation;
    open->due = silent_since(conversation, rules) + rules.after;
    return conversation;
}

Conversation watch_unread(Conversation conversation, const InactivityRules& rules) {
    if (!rules.watched_since || !is_unseen(conversation) || !was_last_heard_before_gap(conversation, rules))
        return conversation;
    std::get<NoTurn>(conversation.turn_state).due =
        std::max(*rules.gap_at, silent_since(conversation, rules)) + rules.after;
    return conversation;
}

bool was_last_heard_before_gap(const Conversation& conversation, const InactivityRules& rules) {
    return rules.gap_at && (!conversation.heard_at || *conversation.heard_at < *rules.gap_at);
}

}  // namespace epilogue
