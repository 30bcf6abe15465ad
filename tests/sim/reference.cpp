#include "tests/sim/reference.h"

#include <algorithm>

#include "base/mutant.h"
#include "schemas/decode.h"
#include "worker/core/fold.h"

namespace epilogue::sim {
namespace {

#ifdef EPILOGUE_MUTANTS
/// The reference is the product as it should be.
class Unmutated {
  public:
    Unmutated() : planted_(std::exchange(planted_mutant, Mutant::none)) {}
    ~Unmutated() { planted_mutant = planted_; }
    Unmutated(const Unmutated&) = delete;
    Unmutated& operator=(const Unmutated&) = delete;

  private:
    Mutant planted_;
};
#else
class Unmutated {
  public:
    Unmutated() {}
};
#endif

void take(const std::vector<TurnEnd>& ended, std::vector<ToldTurn>& turns) {
    for (const TurnEnd& turn : ended) turns.push_back({turn.turn_key, turn.verdict, turn.words.value_or("")});
}

}  // namespace

std::vector<ToldTurn> turns_of(const ToldConversation& conversation, const Broker& broker) {
    if (!conversation.messy) return conversation.turns;
    const Unmutated unmutated;
    Decoder decoder;
    Conversation folded;
    std::vector<ToldTurn> turns;
    FoldRules rules;
    rules.settle = settle;
    for (const LogRecord& record : broker.log(conversation.partition)) {
        if (record.key != conversation.id) continue;
        const Decoded decoded = decoder.decode(record.value);
        const auto* event = std::get_if<Event>(&decoded);
        if (event == nullptr) continue;
        Folded next = fold(std::move(folded), *event, record.timestamp, rules);
        folded = std::move(next.conversation);
        take(next.ended, turns);
    }
    take(tick(std::move(folded), Instant::max()).ended, turns);
    return turns;
}

std::vector<ToldTurn> reported_turns(const std::vector<ToldTurn>& turns, const WantedCallback& callback,
                                     const RegistrationSeen& seen) {
    auto first = turns.begin();
    if (!seen.last_turn.empty()) {
        first = std::find_if(turns.begin(), turns.end(),
                             [&](const auto& turn) { return turn.key == seen.last_turn; });
        const bool tells_last = callback.from_last && seen.between_turns;
        if (first != turns.end() && !tells_last) ++first;
    }
    const auto& triggers = callback.options.triggers;
    std::vector<ToldTurn> triggering;
    std::copy_if(first, turns.end(), std::back_inserter(triggering), [&](const ToldTurn& turn) {
        return std::find(triggers.begin(), triggers.end(), turn.verdict) != triggers.end();
    });
    return testing::reported_turns(triggering, name_of(callback.options.mode));
}

}  // namespace epilogue::sim
