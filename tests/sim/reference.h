// Which turns a callback has to report, without the shell: from what the generator told, or, where the events
// came out of order, from one fold over the whole log.
#pragma once

#include <vector>

#include "tests/sim/broker.h"
#include "tests/sim/workload.h"

namespace epilogue::sim {

/// All turns of the conversation, in the order in which they counted.
std::vector<ToldTurn> turns_of(const ToldConversation& conversation, const Broker& broker);

/// Those that the callback reports.
std::vector<ToldTurn> reported_turns(const std::vector<ToldTurn>& turns, const WantedCallback& callback,
                                     const RegistrationSeen& seen);

}  // namespace epilogue::sim
