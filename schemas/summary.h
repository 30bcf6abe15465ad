// A turn's summary, platform-neutral: what is frozen once per (conversation, turn) and rendered by each sink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace epilogue {

/// The turn for programs: what happened, in words that never change with the language.
struct TurnOutcome {
    std::string conversation_id;
    std::string turn;                   ///< its key
    std::string verdict;                ///< a trigger's name: "finished", "error", …
    std::string outcome;                ///< done | done_with_problems | waiting | failed | stopped | unknown
    std::string error_code;             ///< may be empty
    std::vector<std::string> requests;  ///< addresses of pull and merge requests, untrusted
    std::int64_t steps = 0;             ///< of the agent
    std::optional<std::int64_t> seconds;    ///< from its opening to its end
    std::optional<std::int64_t> tokens_in;  ///< of the turn alone, as the following
    std::optional<std::int64_t> tokens_out;
    std::optional<std::int64_t> cost;  ///< millionths of a dollar
    bool operator==(const TurnOutcome&) const = default;
};

struct Summary {
    std::string headline;       ///< Markdown: the verdict in bold, an error's code after it
    std::string final_message;  ///< the agent's own last words, untrusted Markdown; may be empty
    std::string facts;  ///< Markdown lines of the digest, untrusted in their quoted parts; may be empty
    std::string link;   ///< URL of the conversation; may be empty
    std::string link_text = {};  ///< what the link is called; empty: in English
    TurnOutcome about = {};      ///< empty in a summary that was frozen before there was this
    bool operator==(const Summary&) const = default;
};

/// summaries.body: its parts as one JSON object.
std::string to_json(const Summary& summary);
/// Reads to_json's form; poison when it has another.
Result<Summary> summary_from_json(std::string_view json);

}  // namespace epilogue
