// What is played: recorded conversations, the issues they belong to, and what has to be told of them.
#pragma once

#include <string>
#include <vector>

namespace epilogue::embedded {

/// A turn that has to be told.
struct ExpectedTurn {
    std::string about;       ///< one sentence for the audience: what the agent did
    std::string headline;    ///< how it ended, as contract §10 spells it
    std::string words;       ///< the agent's last words; empty: none
    std::string error_code;  ///< empty: none is known
};

struct Story {
    std::string conversation;         ///< id, 32 hex digits, another one each time
    std::string generation;           ///< of OpenHands, e.g. "OpenHands 1.58.0"
    std::string repository;           ///< "owner/name"
    int issue = 0;                    ///< number in the repository
    std::vector<std::string> events;  ///< JSON texts, in the order of the log
    std::vector<ExpectedTurn> turns;  ///< in order
    /// "owner/name#7".
    std::string place() const { return repository + "#" + std::to_string(issue); }
};

/// The programme, in the order in which the conversations begin. The first three are the ones that things
/// happen to: see play.cpp.
std::vector<Story> programme();

}  // namespace epilogue::embedded
