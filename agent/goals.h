// `/goal` loops: runs that a server begins again by itself until a judge is content. Each round ends as a run
// does, and only the loop's end ends the work.
#pragma once

#include "agent/calls.h"

namespace epilogue::agent {

/// Whether such a loop goes on, by its newest update in the log. Reads back to where the newest turn began:
/// a loop says that it goes on before it sends the message of a round, and that it is over before the user's
/// own. False where there is none, and for a server that has no such loops.
AgentResult<bool> goal_goes_on(const ConversationCalls& calls, ConversationCalls::Clock::time_point until);

}  // namespace epilogue::agent
