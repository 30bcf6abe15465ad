// What the whole pool has done in one rate window of a platform, and when the next call may begin. Pure: the
// row's lock and the database's clock are the caller's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/rate_limit.h"

namespace epilogue {

/// A call of a sink: writes count against the limits, reads do not.
enum class Call { read, write };

struct RateWindow {
    std::vector<Instant>
        calls;             ///< ascending: when each was over; one under way is over at the end of its lease
    Instant closed_until;  ///< the platform wants no call before
    int refusals = 0;      ///< refusals by rate since the last call that was not refused
    std::optional<Instant> last_refused_at;  ///< the newest of them
    bool waiting = false;                    ///< deliveries stand in line for it
    Instant served_at;                       ///< when the line was last seen to, or began; to a few seconds
    Instant unattended_until;  ///< what was in line before that stood there while nobody saw to it
    bool operator==(const RateWindow&) const = default;

    /// The earliest instant at which such a call may begin. A call is counted by the latest instant at which
    /// the platform may have got it, so no limit is exceeded by the platform's own count either. A limit of
    /// one, or a refusal, means one call at a time, reads among them.
    Instant next(Call call, const std::vector<RateLimit>& limits) const;
    /// Whether a call of that kind leaves a trace here.
    bool keeps(Call call, const std::vector<RateLimit>& limits) const;

    /// A write from the line may begin now. True when that is worth to be kept. A line that was open for more
    /// than a minute with nobody to see to it was left by its pool, or comes from tables that were set back.
    bool serve(const std::vector<RateLimit>& limits, Instant now);

    /// A call that is over at `until` at the latest.
    void begin(Instant until);
    /// That call is over now; what no limit looks at any more is forgotten.
    void end(Call call, Instant until, const std::vector<RateLimit>& limits, Instant now);

    /// The platform refused a call that began at `begun`, for its rate. A refusal of a call from before the
    /// last one tells nothing new.
    void record_refusal(Instant begun, Instant now);
    /// A call that began at `begun` was not refused.
    void record_success(Instant begun);
};

/// The instants as one text, and back; what is no instant is left out.
std::string to_text(const std::vector<Instant>& calls);
std::vector<Instant> calls_from_text(std::string_view text);

}  // namespace epilogue
