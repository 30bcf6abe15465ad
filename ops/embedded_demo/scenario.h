// What the demo runs: recorded conversations, the issues they belong to, and the turns that have to be
// reported.
#pragma once

#include <string>
#include <vector>

#include "ops/fake_platform/place.h"

namespace epilogue::demo {

/// A turn that has to be reported.
struct ExpectedTurn {
    std::string about;       ///< one sentence for the reader: what the agent did
    std::string headline;    ///< how it ended, as contract §10 spells it
    std::string words;       ///< the agent's final message; empty: none
    std::string error_code;  ///< empty: none is known
};

/// Where the ends of a conversation are reported.
using fake_platform::Place;
/// In one line: "owner/name#7", "owner/name!7, thread 1003".
std::string name_of(const Place& place);

struct Scenario {
    std::string conversation;  ///< id, 32 hex digits, another one each time
    std::string generation;    ///< of OpenHands, e.g. "OpenHands 1.58.0"
    Place place;
    bool in_thread = false;           ///< a person began a thread, and the posts stand in it
    std::vector<std::string> events;  ///< JSON texts, in the order of the log
    std::vector<ExpectedTurn> turns;  ///< in order
};

/// All of them, in the order in which the conversations begin. The first three have the planted faults: see
/// demo_runner.cpp.
std::vector<Scenario> demo_scenarios();

}  // namespace epilogue::demo
