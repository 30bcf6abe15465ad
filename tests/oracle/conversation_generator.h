// Tells one conversation, event by event: V1 or V0, well-ordered. The teller knows by itself which turns have
// to be reported: the expectation does not come from the product's fold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/instant.h"
#include "tests/oracle/random.h"
#include "tests/oracle/expected_turn.h"

namespace epilogue::testing {

/// What the reader's clock does to a story.
struct Pacing {
    Micros settle{0};  ///< how long a V1 `finished` has to stand until it counts (settle_ms)
    /// False: the records may be read at any pace, so nothing is told whose count depends on how long
    /// something stood.
    bool counts_by_time = true;
};

/// The timestamp of an event at this virtual time.
std::string stamp_of(Micros at);

class Storyteller {
  public:
    /// `index` names the conversation and its nonces; events are told between `start` and `end`.
    Storyteller(Random random, std::size_t index, Micros start, Micros end, Pacing pacing);
    virtual ~Storyteller() = default;
    Storyteller(const Storyteller&) = delete;
    Storyteller& operator=(const Storyteller&) = delete;

    /// Tells all of it.
    void tell();

    struct Told {
        Micros at{0};
        std::string value;
    };
    std::vector<Told> told;
    std::vector<ToldTurn> turns;

  protected:
    /// One turn; false when the conversation is over.
    virtual bool tell_turn() = 0;

    void pass(Micros low, Micros high) { now_ += random_.between(low, high); }
    void add(std::string value) { told.push_back({now_, std::move(value)}); }
    /// The event's own timestamp.
    std::string stamp() const;
    std::string nonce() const;
    std::string next_id();
    void ends(Verdict verdict, bool says);

    Random random_;
    const std::size_t index_;
    Micros now_;
    const Micros end_;
    const Pacing pacing_;
    std::string turn_key_;
    int events_ = 0;
};

std::unique_ptr<Storyteller> make_storyteller(bool v0, Random random, std::size_t index, Micros start,
                                              Micros end, Pacing pacing);

}  // namespace epilogue::testing
