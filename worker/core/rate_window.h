// What the whole pool has done in one rate window of a platform, and when the next call may begin. Pure: the
// row's lock and the database's clock are the caller's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/rate_limit.h"

namespace epilogue {

/// A call of a sink: writes count against the limits, reads do not.
enum class Call { read, write };
/// What people call them: "posts" and "look-ups".
constexpr std::string_view name_of(Call call) {
    return call == Call::write ? "posts" : "look-ups";
}

struct RateWindow {
    /// When each counted call ended, ascending; a call under way counts with the end of its lease.
    std::vector<Instant> calls;
    Instant closed_until;                    ///< the platform wants no call before
    int refusals = 0;                        ///< for its rate, since the last call that was not refused
    std::optional<Instant> last_refused_at;  ///< the newest of them
    bool waiting = false;                    ///< deliveries are queued for it
    /// When a delivery of the queue last got its turn, or when the queue began; to a few seconds.
    Instant served_at;
    /// Deliveries that were queued before that waited while no worker served the queue: their rows may be
    /// out of date, so they are looked for before they are sent.
    Instant unattended_until;
    /// Look-ups that were made fill their budget until then (next_look()).
    Instant looks_until;
    bool operator==(const RateWindow&) const = default;

    /// The earliest instant at which such a call may begin. A call is counted by the latest instant at which
    /// the platform may have got it, so no limit is exceeded by the platform's own count either. A limit of
    /// one, or a refusal, means one call at a time, reads among them.
    Instant next(Call call, const std::vector<RateLimit>& limits) const;
    /// Whether a call of that kind changes the row.
    bool keeps(Call call, const std::vector<RateLimit>& limits) const;

    /// Notes that a queued write may begin at `now`. True when the row changed so much that it has to be
    /// written. When the window was open for more than a minute without serving its queue, the queue counts
    /// as unattended: the pool was away, or the tables were set back.
    bool serve(const std::vector<RateLimit>& limits, Instant now);

    /// The earliest instant at which a look-up may begin by its own limits: on average so many that the
    /// strictest of them is kept, and a few at once.
    Instant next_look(const std::vector<RateLimit>& look_limits) const;
    /// Counts a look-up that begins at `now` against its own limits.
    void begin_look(const std::vector<RateLimit>& look_limits, Instant now);

    /// Counts a call that ends at `until` at the latest.
    void begin(Instant until);
    /// The call that was counted with `until` ended at `now`. Drops calls that no limit counts any more.
    void end(Call call, Instant until, const std::vector<RateLimit>& limits, Instant now);

    /// At `now` the platform refused, for its rate, a call that began at `begun`. Ignored when the call began
    /// before the last refusal: it tells nothing new.
    void record_refusal(Instant begun, Instant now);
    /// A call that began at `begun` was not refused. Ignored like a refusal.
    void record_success(Instant begun);
};

/// For how long a refusal by rate, `refusals` in a row by now, closes the window: the platform's own waiting
/// time, and a little more after each refusal, so that pools which share the limit do not come back at the
/// same moment; without a time full jitter. When `not_before` is only an estimate, it doubles with each
/// refusal, up to sixteen times as long. `random01`: a draw from [0, 1].
std::chrono::milliseconds pause_after_refusal(std::optional<std::chrono::seconds> not_before,
                                              bool is_estimate, int refusals, double random01);

/// The instants as one text (microseconds, separated by blanks), and back, without parts that are no numbers.
std::string to_text(const std::vector<Instant>& calls);
std::vector<Instant> calls_from_text(std::string_view text);

}  // namespace epilogue
