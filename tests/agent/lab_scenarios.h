// The scenarios in which real agent servers were studied: what is done to a conversation of each, and what
// Epilogue owes for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/agent/scripted_conversation.h"

namespace epilogue::testing {

struct OwedPost {
    std::string headline;    ///< a part of it
    std::string words = {};  ///< they stand in it
};
using OwedPosts = std::vector<OwedPost>;  ///< of one conversation, in the order of its turns

struct Owed {
    std::vector<OwedPosts> either;  ///< where servers differ from run to run, one of these
    bool stays_open = false;        ///< its last turn may not come to an end
};

struct LabScenario {
    const char* name;
    const char* script;                      ///< of ops/agent_server/scripted_llm.py
    std::string (*more)(const RealServer&);  ///< JSON that is merged into the request
    /// Does all of it, to the end of the last run. Errors are std::runtime_error.
    std::function<Owed(const RealServer&, ScriptedConversation&)> play;
};

/// All but those of which nothing comes into the topic: clients that connect again, and servers that stall.
const std::vector<LabScenario>& lab_scenarios();

}  // namespace epilogue::testing
