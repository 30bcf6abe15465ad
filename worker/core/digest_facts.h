// A turn's digest in our own words: a line for each thing that a reader who was not there wants to know, and
// none for what says nothing. (contract §10 "Body")
#pragma once

#include <string>
#include <string_view>

#include "worker/core/conversation.h"
#include "worker/core/phrases.h"

namespace epilogue {

constexpr std::size_t max_facts_bytes = std::size_t{8} << 10U;

struct FactsRules {
    Language language = Language::english;
    bool figures = false;         ///< with what the turn took
    std::string_view words = {};  ///< the agent's, which stand above the facts; what they say is not repeated
};

/// Lines of Markdown, max_facts_bytes at most; "": there is nothing to say.
std::string facts_of(const TurnEnd& turn, const FactsRules& rules);

/// The same in a few words, for a first line above long words: "3 files changed, tests pass"; may be empty.
std::string gist_of(const TurnEnd& turn, Language language);

/// Text as a Markdown code span on one line, cut to what a line holds.
std::string code_span(std::string_view text);

}  // namespace epilogue
