// A circuit breaker: whether a platform answers one kind of call of one credential, as the whole pool has
// seen it. Closed: every call goes. Open: the platform is down, and one call every few seconds (a probe) asks
// whether it is back. Pure: the row's lock and the database's clock are the caller's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"

namespace epilogue {

/// What a call may do.
enum class Passage {
    pass,   ///< go
    probe,  ///< go, for all others: the caller notes it with begin_probe()
    wait,   ///< the platform is down; another call asks whether it is back
};

struct Breaker {
    int failures = 0;                 ///< of the platform, in a row
    std::string place;                ///< where all of them were; `several_places` when they were not at one
    std::optional<Instant> since;     ///< the first of them began; without any: it was closed again
    std::optional<Instant> probe_at;  ///< when the next probe may begin; nullopt: the breaker is closed
    bool operator==(const Breaker&) const = default;

    /// So many failures in a row open it, when they were at more than one place.
    static constexpr int most_failures = 5;
    /// Failures at one place alone open it only when nothing else was answered for so long.
    static constexpr std::chrono::seconds alone_for{60};
    /// A probe that was not answered by then (its worker was killed, the platform hangs) is followed by the
    /// next one. Short, so that a platform that is back is noticed within ten seconds.
    static constexpr std::chrono::seconds longest_probe{5};
    /// A post that was not held up yet leaves the probe for so long to what already waits.
    static constexpr std::chrono::seconds held_first{1};
    /// Where a look-up and a post could both be the probe, the look-up has so long to begin first.
    static constexpr std::chrono::seconds left_to_look_ups{2};
    static constexpr std::string_view several_places = "*";

    bool is_open() const { return probe_at.has_value(); }
    /// What a call may do at `now`. `is_held`: it already waits for this breaker, or is a look-up.
    Passage passage(Instant now, bool is_held) const;
    /// A call begins at `now` as the probe.
    void begin_probe(Instant now);

    /// The platform failed (5xx, no connection, no answer in time) a call to `where` that began at `begun`.
    /// Ignored when it began before the breaker was closed again: what hung then ends late. `random01`: a
    /// draw from [0, 1].
    void record_failure(std::string_view where, Instant begun, Instant now, double random01);
    /// The platform answered a call that began at `begun`, yes or no. Ignored when it began before the first
    /// failure.
    void record_answer(Instant begun, Instant now);
};

}  // namespace epilogue
