// Rows of OpenHands' own callback tables of both generations, and what is to become of each. Pure.
// (docs of OpenHands' conversation_callback.py and sql_event_callback_service.py)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/instant.h"

namespace epilogue {

enum class UpstreamGeneration {
    v0,  ///< table conversation_callbacks
    v1,  ///< table event_callback
};
std::string_view name_of(UpstreamGeneration generation);

/// A longer processor_json is not taken over.
constexpr std::size_t max_processor_bytes = std::size_t{8} << 20U;

/// A row as its database has it.
struct UpstreamRow {
    std::string id;
    std::optional<std::string> conversation_id;
    std::string status;
    std::string processor_type;            ///< V0; in V1 the processor has it as `kind`
    std::optional<std::string> processor;  ///< V0's processor_json, V1's processor; none: it is too long
    std::optional<Instant> created_at;     ///< taken as UTC
    std::string version;                   ///< as its database numbers the row's changes
    std::string posted_event = {};         ///< V1: the event of the newest post that it made
};

/// The row becomes a callback of ours.
struct TakenOver {
    ConversationId conversation_id;
    std::string processor_type;
    std::string processor_json;
    std::string told;  ///< CallbackOptions::told
    /// The Jira (its cloud's id) whose API key stood in the processor and is not taken over; nullopt: none.
    std::optional<std::string> key_left_out = {};
};

/// The row owes no post.
enum class LeftOut {
    not_active,      ///< OpenHands has done with it
    posted_already,  ///< it posts once, and has
    tells_nobody,    ///< it sets a title, or writes to OpenHands' own log
};

/// The row owes a post that cannot be made.
struct Unreadable {
    std::string reason;  ///< names the column or the field; never holds a value of processor_json
};

using Reading = std::variant<TakenOver, LeftOut, Unreadable>;
Reading read_row(UpstreamGeneration generation, const UpstreamRow& row);

/// SHA-256 of all that read_row() looks at and that OpenHands changes.
std::string digest_of(const UpstreamRow& row);

}  // namespace epilogue
