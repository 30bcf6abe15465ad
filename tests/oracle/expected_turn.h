// A turn as the generator of a conversation knows it, and which of them a callback reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/verdict.h"

namespace epilogue::testing {

/// A turn that has to be counted.
struct ExpectedTurn {
    std::string key;
    Verdict verdict = Verdict::finished;
    std::string words;        ///< "[c3t1]" when its post has to hold it
    std::string origin = {};  ///< of all its user messages
};

/// Contract §4: what a callback of this mode (`once`, `until_done`, `every_turn`) reports of the turns that
/// have one of its triggers.
std::vector<ExpectedTurn> reported_turns(const std::vector<ExpectedTurn>& triggering, std::string_view mode);

/// Contract §10: what the first line of its post starts with.
std::string headline_of(Verdict verdict);

}  // namespace epilogue::testing
