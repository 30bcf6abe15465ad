// What upstream's V0 posts: files that its runtime has written, among them one for each event. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace epilogue::relay {

/// An event with the conversation that it is of.
struct PostedEvent {
    ConversationId conversation_id;
    std::string json;
};

struct PostedFiles {
    std::vector<PostedEvent> events;  ///< in the order in which they stand
    std::size_t others = 0;           ///< files that are no events, and removals
    std::size_t invalid = 0;          ///< items that are no such thing
    std::string first_fault;          ///< of those: which, and what was expected
};

/// One element of a batch: {method, path, content, encoding?: "base64"}. Adds what it is to `files`; `number`
/// is its place in the batch, from 0 on.
void add_posted_file(PostedFiles& files, std::string_view item, std::size_t number);

}  // namespace epilogue::relay
