// A line of `epilogue publish`: {"conversation_id": "…", "event": {…}, "seq"?: n}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue {

struct PublishLine {
    ConversationId conversation_id;   ///< normalised: the record's key
    std::string event;                ///< the bytes of `event` as they stand in the line
    std::optional<std::int64_t> seq;  ///< the header
};

/// Poison when the line is no JSON object, or has no `event`, or no usable `conversation_id`; the text says
/// which.
Result<PublishLine> parse_publish_line(std::string_view line);

}  // namespace epilogue
