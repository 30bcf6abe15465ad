// Hooks that a server runs when its agent wants to end a run, and that may send it on: what a conversation
// has of them, and what they said.
#pragma once

#include <cstddef>
#include <string_view>

#include "agent/event_list.h"

namespace epilogue::agent {

/// How many of them the conversation has, as its information says (ConversationCalls::info()); those that run
/// beside the agent and decide nothing are left out.
std::size_t stop_hooks_in(std::string_view info);

/// True when one of them has spoken in this log.
bool has_stop_hook(const EventList& events);

/// How many of them have let the newest `finished` pass; 0 when one has denied it, or something else came
/// since.
std::size_t stop_hooks_passed(const EventList& events);

}  // namespace epilogue::agent
