// What the agent said last, asked of the server or read from its events.
#pragma once

#include <optional>
#include <string>

#include "agent/calls.h"
#include "agent/event_list.h"

namespace epilogue::agent {

/// The text of the newest finish action that could be parsed, or message of the agent, whichever is newer.
/// nullopt when there is none. Differs from upstream's rule in one point: a finish that could not be parsed
/// does not end the search.
std::optional<std::string> last_words(const EventList& events);

/// The agent's last words by the server: its own final response where it offers that, else what the newest
/// events say, else what the whole log says; "" when there are none.
AgentResult<std::string> last_words_of(const ConversationCalls& calls);

/// The plain text of a message's content: its text parts, one after the other. "" for other events.
std::string message_text(const RemoteEvent& event);

}  // namespace epilogue::agent
