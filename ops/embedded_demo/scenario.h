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

/// Where the ends of a conversation are told, as the stand-in names it.
struct Place {
    std::string platform;  ///< "github", "gitlab" or "slack"
    std::string
        path;  ///< "owner/name#7"; merge requests and review threads: "owner/name!7"; Slack: a channel
    std::string thread{};  ///< that the posts stand in; "": none
};
/// In one line: "owner/name#7", "owner/name!7, thread 1003".
std::string name_of(const Place& place);

struct Story {
    std::string conversation;  ///< id, 32 hex digits, another one each time
    std::string generation;    ///< of OpenHands, e.g. "OpenHands 1.58.0"
    Place place;
    bool in_thread = false;           ///< somebody began a thread, and it is told there
    std::vector<std::string> events;  ///< JSON texts, in the order of the log
    std::vector<ExpectedTurn> turns;  ///< in order
};

/// The programme, in the order in which the conversations begin. The first three are the ones that things
/// happen to: see play.cpp.
std::vector<Story> programme();

}  // namespace epilogue::embedded
