// `"mode_of_post": "update"` in the short forms of processor_json: an outcome is written into a message of
// ours that is there already.
#pragma once

#include <cstdint>
#include <string_view>

#include "sinks/port/processor_reader.h"
#include "sinks/port/processor_writer.h"

namespace epilogue {

inline constexpr std::string_view member_mode_of_post = "mode_of_post";
inline constexpr std::string_view member_notify = "notify";

/// True for "update"; "new", and no member, mean a post of its own.
bool is_update(const ProcessorReader& json);

/// Writes the mode, and with an update whether a short post tells of it.
void write_update(const ProcessorWriter& json, bool is_update, bool notify);

}  // namespace epilogue
