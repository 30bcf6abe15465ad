// What a named model is asked about a turn: what is known of it, redacted, cut to what the model takes, and
// fenced as data. Pure but for the fence, which the caller makes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent/event_list.h"
#include "worker/core/conversation.h"
#include "worker/core/phrases.h"

namespace epilogue {

/// What is known of a turn, oldest first. Everything in it may have been written by an attacker.
struct TurnMaterial {
    std::string task;        ///< what the user wrote
    std::string last_words;  ///< the agent's
    std::string outcome;     ///< how the turn ended, in our words
    std::vector<std::string> actions;
    std::vector<std::string> results;
    std::vector<std::string> errors;
    std::vector<std::string> files;
    std::vector<std::string> tests;
    std::vector<std::string> pull_requests;
};

/// What our own tables have: the counted turn; with `known` false all but its verdict is missing, and
/// `facts`, the digest's lines, stand for it.
struct KnownTurn {
    TurnEnd turn;
    bool is_known = false;
    std::string headline;
    std::string facts;
};
TurnMaterial material_of(const KnownTurn& known);

/// Adds what the turn's events in its server's log tell, of `log` those behind the event `opening` (all, when
/// it is not there) up to `end` (the status event; "": to the last). Of an event at most 4,000 bytes are
/// taken, once its secrets are gone.
void add_history(TurnMaterial& material, const std::vector<agent::EventRef>& log, std::string_view opening,
                 std::string_view end);

/// What a template may hold in braces.
std::vector<std::string_view> llm_placeholders();

struct LlmPrompt {
    std::string system;  ///< ours alone
    std::string user;    ///< the template, filled
    /// How many tokens both may be: an estimate on the safe side.
    std::size_t tokens() const;
};

struct PromptRules {
    std::string text;  ///< the template; "": our own
    std::size_t context_tokens = 12'000;
    Language language = Language::english;
};

/// `fence`: a random word, which cannot stand in the material.
LlmPrompt prompt_of(const TurnMaterial& material, const PromptRules& rules, const std::string& fence);

}  // namespace epilogue
