// A callback row's processor: where its summaries go. Reads and writes upstream's processor_json of both
// generations and our short form. (contract §4; shapes: docs of OpenHands' *_callback_processor.py)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sinks/port/target.h"

namespace epilogue {

/// The registry's short name for a short or dotted processor_type
/// ("…slack_callback_processor.SlackCallbackProcessor", "SlackV1CallbackProcessor"), or nullopt when it is
/// none of ours.
std::optional<std::string> sink_named(std::string_view processor_type);

/// Decodes a row. The error (poison) names the field and what was expected of it.
Result<Processor> decode_processor(std::string_view processor_type, std::string_view processor_json);

/// The row's processor_json with the place of `processor`, which is of the row's own sink: what upstream's
/// set_processor writes. Members that the form does not know, and all that says the same already, stay byte
/// for byte. Errors (poison): decode_processor's, and a place that the row's form cannot hold.
Result<std::string> encode_processor(std::string_view processor_type, std::string_view processor_json,
                                     const Processor& processor);

/// One line that names the place, equal for equal places: "github:owner/name#42" (a review thread:
/// "…#42/r7"), "slack:T…/C…/1763715600.000100" (no team: "slack:-/C…"), "gitlab:4455!7" (an issue: "…#7"; in
/// a discussion: "…/<id>"), "log". At most 512 bytes.
std::string describe(const Processor& processor);

}  // namespace epilogue
