// The frames of a session socket.
#pragma once

#include <optional>
#include <string_view>

#include "agent/relay/follow/plan.h"

namespace epilogue::relay {

/// A sync, durable or transient frame. nullopt: one of another type, which says nothing of the log.
std::optional<Happening> parse_session_frame(std::string_view text);

}  // namespace epilogue::relay
