// An event that is kept back in its conversation's row until it is known whether it is old or its server's
// clock was set back, as JSON and back.
#pragma once

#include "schemas/json_part.h"
#include "schemas/json_writer.h"
#include "worker/core/conversation.h"

namespace epilogue {

/// The members that read_held_event looks at.
const std::vector<WantedPart>& wanted_of_held_event();

/// Writes one element of an array.
void write(JsonWriter& json, const HeldEvent& held);

/// Reads what write() has written; what is missing is read as empty.
HeldEvent read_held_event(const JsonPart& json);

}  // namespace epilogue
