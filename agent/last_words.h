// What the agent said last, read from its events.
#pragma once

#include <optional>
#include <string>

#include "agent/event_list.h"

namespace epilogue::agent {

/// The text of the newest finish action that could be parsed, or message of the agent, whichever is newer.
/// nullopt when there is none. Differs from upstream's rule in one point: a finish that could not be parsed
/// does not end the search.
std::optional<std::string> last_words(const EventList& events);

/// The plain text of a message's content: its text parts, one after the other. "" for other events.
std::string message_text(const RemoteEvent& event);

}  // namespace epilogue::agent
