// The two generations of OpenHands' events, each into the same values. Parts of Decoder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "schemas/event.h"
#include "schemas/json_part.h"

namespace epilogue {

/// What decode_v0 and decode_v1 look at in an event; one document can be either.
const WantedPart& wanted_of_events();

/// An event with a string `kind`; nullopt: nothing for us (unknown kind, no usable id).
std::optional<Event> decode_v1(const JsonPart& event, const RecordMarks& marks);

/// An event with a string `action` or `observation`; nullopt: nothing for us (unknown name, no usable id).
std::optional<Event> decode_v0(const JsonPart& event);

/// The event's own time, when it has one that can be read.
std::optional<Instant> timestamp_of(const JsonPart& event);

/// Adds the pull and merge requests at `links`.
void add_requests(std::vector<Work>& work, std::vector<std::string> links);

/// Adds how the command of the action `id` ended, when `exit_code` is an integer and there is an id.
void add_command_end(std::vector<Work>& work, std::string_view id, const JsonPart& exit_code);

}  // namespace epilogue
