#include "tests/sim/reference.h"

#include <algorithm>

#include "base/mutant.h"
#include "schemas/decode.h"
#include "tests/sim/places.h"
#include "worker/core/fold.h"
#include "worker/core/server_log.h"

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

FoldRules fold_rules() {
    FoldRules rules;
    rules.settle = settle;
    return rules;
}

void add(const std::vector<TurnEnd>& ended, std::vector<ExpectedTurn>& turns) {
    for (const TurnEnd& turn : ended)
        turns.push_back({turn.turn_key, turn.verdict, turn.final_message.value_or(""), turn.origin});
}

}  // namespace

void Folding::take(std::string_view event, Instant at, const RecordMarks& marks) {
    const Unmutated unmutated;
    Decoder decoder;
    const Decoded decoded = decoder.decode(event, marks);
    const auto* known = std::get_if<Event>(&decoded);
    if (known == nullptr || (!is_watched_ && is_for_watchers(*known))) return;
    Folded next = fold(std::move(conversation_), *known, at, fold_rules());
    conversation_ = std::move(next.conversation);
    add(next.ended, turns_);
}

void Folding::pass(Instant at) {
    const Unmutated unmutated;
    Folded next = tick(std::move(conversation_), at, fold_rules());
    conversation_ = std::move(next.conversation);
    add(next.ended, turns_);
}

RegistrationSeen Folding::seen() const {
    return {conversation_.last ? conversation_.last->turn_key : TurnKey{},
            std::holds_alternative<Ended>(conversation_.turn_state), is_unseen(conversation_)};
}

namespace {

bool has_turn(const std::vector<ExpectedTurn>& turns, const TurnKey& key) {
    return std::any_of(turns.begin(), turns.end(), [&](const ExpectedTurn& turn) { return turn.key == key; });
}

/// By one fold over the log; the conversation has no callback until that turn has counted.
std::vector<ExpectedTurn> folded_turns(const ToldConversation& conversation, const Broker& broker,
                                       const TurnKey& watched_since) {
    Folding folding;
    for (const LogRecord& record : broker.log(conversation.partition)) {
        if (record.key != conversation.id) continue;
        folding.watch(watched_since.empty() || has_turn(folding.turns(), watched_since));
        folding.take(record.value, record.timestamp, record.marks);
    }
    folding.pass(Instant::max());
    return folding.turns();
}

}  // namespace

std::vector<ExpectedTurn> turns_of(const ToldConversation& conversation, const Broker& broker,
                                   const RegistrationSeen& seen) {
    if (!conversation.messy) return conversation.turns;
    auto turns = folded_turns(conversation, broker, TurnKey());
    if (seen.last_turn.empty() || has_turn(turns, seen.last_turn)) return turns;
    return folded_turns(conversation, broker, seen.last_turn);
}

std::vector<ExpectedTurn> reported_turns(const std::vector<ExpectedTurn>& turns,
                                         const WantedCallback& callback, const RegistrationSeen& seen) {
    auto first = turns.begin();
    if (!seen.last_turn.empty()) {
        first = std::find_if(turns.begin(), turns.end(),
                             [&](const auto& turn) { return turn.key == seen.last_turn; });
        const bool tells_last = callback.from_last && seen.between_turns;
        if (first != turns.end() && !tells_last) ++first;
    }
    const auto& triggers = callback.options.triggers;
    const std::string here = place_of(callback.number).name;
    std::vector<ExpectedTurn> triggering;
    std::copy_if(first, turns.end(), std::back_inserter(triggering), [&](const ExpectedTurn& turn) {
        if (callback.only_from_here() && turn.origin != here) return false;
        return std::find(triggers.begin(), triggers.end(), turn.verdict) != triggers.end();
    });
    return testing::reported_turns(triggering, name_of(callback.options.mode));
}

}  // namespace epilogue::sim
