// Whose clock counts (contract §4): agent servers write their local time and do not say so. What they wrote
// is compared with the time of the record, which is true, and put right before anything is compared. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/instant.h"
#include "worker/core/conversation.h"

namespace epilogue {

/// So much a server's clock that is well set may be off, the way to the topic included.
constexpr std::chrono::seconds clocks_differ{60};
/// Events in a row that have to agree on a clock that was set back.
constexpr int events_show_jump = 3;

/// What one event's own time says of its server's clock.
struct ClockReading {
    enum class Kind {
        agrees,  ///< with the zone that is known; or nothing can be concluded
        ahead,   ///< it would lie in the future: the clock is in another zone for certain
        jumped,  ///< it would be old, and is of now in another zone: an old event, or a clock set back
    };
    Kind kind = Kind::agrees;
    std::chrono::minutes zone{0};  ///< that would make it true
};

/// Reads `own`, an event's time as its server wrote it; its record is of `at`.
ClockReading read_clock(Instant own, Instant at, const Conversation& conversation);

/// Moves all that the conversation remembers of its server's times.
void shift_times(Conversation& conversation, Micros by);

/// The server is known to be in `zone`. Where nothing was known of its zone, what is remembered was written
/// in it, unless that would make it newer than its records.
void learn_zone(Conversation& conversation, std::chrono::minutes zone);

/// The multiple of 15 minutes that is nearest.
std::chrono::minutes nearest_zone(Micros difference);
/// No zone of the world is further from UTC.
bool is_possible_zone(std::chrono::minutes zone);

}  // namespace epilogue
