// The order in which the events of one request happened. Old servers append what could not be sent before to
// what is newer.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace epilogue::relay {

/// The places of `events`, JSON of V1, by their own times; those of one time, and all when an event says
/// none, stay as they are. So do all when times step back as a clock does that is set back to another zone's
/// time: then they say nothing of the order.
std::vector<std::size_t> own_order(const std::vector<std::string_view>& events);

}  // namespace epilogue::relay
