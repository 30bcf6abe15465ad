// What a door tells of what it does, for metrics.
#pragma once

#include <cstddef>
#include <functional>

#include "agent/relay/door.h"
#include "base/enum_names.h"

namespace epilogue::relay {

/// What became of an event that a door was given.
enum class Outcome {
    acknowledged,  ///< it is in the topic
    left_out,      ///< not wanted there: its kind, or a snapshot
    no_room,       ///< as many bytes are under way as there may be
    failed,        ///< Kafka did not acknowledge it
    forbidden,     ///< its conversation belongs to another key
    invalid,       ///< no JSON
};

/// As the metrics' label spells them.
constexpr EnumNames<Outcome, 6> outcome_names{
    {"acknowledged", "left_out", "no_room", "failed", "forbidden", "invalid"}};
static_assert(outcome_names.ends_with(Outcome::invalid));

/// Every function may be called from any thread.
struct DoorObserver {
    std::function<void(Door, Outcome, std::size_t events)> events = [](auto, auto, auto) {};
    std::function<void(Door)> trimmed = [](auto) {};  ///< one event
};

}  // namespace epilogue::relay
