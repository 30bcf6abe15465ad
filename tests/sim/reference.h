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
    /// From now on signs of life are read, or not: those of a conversation without callbacks are not.
    void watch(bool watched) { is_watched_ = watched; }
    /// Nothing more comes before `at`.
    void pass(Instant at);

    const Conversation& conversation() const { return conversation_; }
    const std::vector<ExpectedTurn>& turns() const { return turns_; }
    /// What it looks like to a callback that begins to watch here.
    RegistrationSeen seen() const;

  private:
    Conversation conversation_;
    std::vector<ExpectedTurn> turns_;
    bool is_watched_ = true;
};

/// All turns of the conversation, in the order in which they counted, for a callback that saw that when it
/// was registered. Signs of life can show that a clock was set back; where they were not read before the
/// callback came, turns may be others.
std::vector<ExpectedTurn> turns_of(const ToldConversation& conversation, const Broker& broker,
                                   const RegistrationSeen& seen);

/// Those that the callback reports.
std::vector<ExpectedTurn> reported_turns(const std::vector<ExpectedTurn>& turns,
                                         const WantedCallback& callback, const RegistrationSeen& seen);

}  // namespace epilogue::sim
