// Generates one conversation, event by event: V1 or V0, well-ordered. The generator knows by itself which
// turns have to be reported: the expectation does not come from the product's fold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/record.h"
#include "tests/oracle/expected_turn.h"
#include "tests/oracle/random.h"

namespace epilogue::testing {

/// What the reader's clock does to a conversation.
struct Pacing {
    Micros settle{0};  ///< how long a V1 `finished` has to stand until it counts (settle_ms)
    /// False: the records may be read at any pace, so nothing is generated whose count depends on how long
    /// something stood.
    bool counts_by_time = true;
    /// Servers write local time, their clocks are moved, they have goals and stop hooks, say when a run is
    /// over and where in their log an event stands.
    bool real_servers = false;
    /// Its user messages come from these places, one after the other; "" says nothing of it.
    std::vector<std::string> origins = {};
};

/// The timestamp of an event at this virtual time.
std::string stamp_of(Micros at);

class ConversationGenerator {
  public:
    /// `index` names the conversation and its nonces; its events lie between `start` and `end`.
    ConversationGenerator(Random random, std::size_t index, Micros start, Micros end, Pacing pacing);
    virtual ~ConversationGenerator() = default;
    ConversationGenerator(const ConversationGenerator&) = delete;
    ConversationGenerator& operator=(const ConversationGenerator&) = delete;

    /// Generates all of it.
    void generate();

    struct TimedEvent {
        Micros at{0};
        std::string value;
        RecordMarks marks = {};
    };
    std::vector<TimedEvent> events;
    std::vector<ExpectedTurn> turns;

  protected:
    /// One turn; false when the conversation is over.
    virtual bool generate_turn() = 0;

    void pass(Micros low, Micros high) { now_ += random_.between(low, high); }
    void add(std::string value);
    /// The event's own timestamp.
    std::string stamp() const;
    /// The same of another time.
    std::string stamp_at(Micros at) const;
    std::string nonce() const;
    std::string next_id();
    void ends(Verdict verdict, bool says);
    /// The text of the next user message, which opens the turn or joins it.
    std::string user_text(bool opens);

    Random random_;
    const std::size_t index_;
    Micros now_;
    const Micros end_;
    const Pacing pacing_;
    std::string turn_key_;
    std::string turn_origin_;
    std::size_t messages_ = 0;  ///< of users
    int events_ = 0;
    std::optional<Micros> zone_;  ///< the server writes the local time of this one; none: UTC, and says so
    std::optional<std::int64_t> seq_;  ///< of the next event, where its records say it
};

std::unique_ptr<ConversationGenerator> make_conversation_generator(bool v0, Random random, std::size_t index,
                                                                   Micros start, Micros end, Pacing pacing);

}  // namespace epilogue::testing
