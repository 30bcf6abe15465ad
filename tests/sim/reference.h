// Which turns a callback has to report, without the shell: from what the generator told, or, where the events
// came out of order, from one fold over the whole log.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/broker.h"
#include "tests/sim/workload.h"
#include "worker/core/conversation.h"

namespace epilogue::sim {

/// An event, and when it happened.
struct TimedEvent {
    Micros at{0};
    std::string value;
};

/// A conversation as one fold over its events tells it.
class Folding {
  public:
    void take(std::string_view event, Instant at, const RecordMarks& marks = {});
    /// Nothing more comes before `at`.
    void pass(Instant at);

    const Conversation& conversation() const { return conversation_; }
    const std::vector<ExpectedTurn>& turns() const { return turns_; }
    /// What it looks like to a callback that begins to watch here.
    RegistrationSeen seen() const;

  private:
    Conversation conversation_;
    std::vector<ExpectedTurn> turns_;
};

/// All turns of the conversation, in the order in which they counted.
std::vector<ExpectedTurn> turns_of(const ToldConversation& conversation, const Broker& broker);

/// Those that the callback reports.
std::vector<ExpectedTurn> reported_turns(const std::vector<ExpectedTurn>& turns,
                                         const WantedCallback& callback, const RegistrationSeen& seen);

}  // namespace epilogue::sim
