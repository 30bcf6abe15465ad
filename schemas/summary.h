// A turn's summary, platform-neutral: what is frozen once per (conversation, turn) and rendered by each sink.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace epilogue {

struct Summary {
    std::string headline;       ///< Markdown: the verdict in bold, an error's code after it
    std::string final_message;  ///< the agent's own last words, untrusted Markdown; may be empty
    std::string facts;  ///< Markdown lines of the digest, untrusted in their quoted parts; may be empty
    std::string link;   ///< URL of the conversation; may be empty
    std::string link_text = {};  ///< what the link is called; empty: in English
    bool operator==(const Summary&) const = default;
};

/// summaries.body: its parts as one JSON object.
std::string to_json(const Summary& summary);
/// Reads to_json's form; poison when it has another.
Result<Summary> summary_from_json(std::string_view json);

}  // namespace epilogue
