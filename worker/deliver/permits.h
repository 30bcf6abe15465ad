// Permits for calls in a rate window that the whole pool shares: acquired in the claim's transaction,
// released with the answer. A sender that dies keeps its permit until its lease ends. A write without a
// permit waits in the window's queue: its row names the window and has no time of its next attempt.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "sinks/port/quota.h"
#include "worker/core/delivery.h"
#include "worker/store/store.h"

namespace epilogue {

struct LookupResult;

struct Permit {
    Call call = Call::write;
    std::string window;  ///< empty: the call is not counted
    std::vector<RateLimit> limits;
    Instant begun;
    std::optional<Instant> until;  ///< as the window counts it; nullopt: it does not count this call
    bool was_refused = false;      ///< the window's last call was refused
    bool unattended = false;       ///< it was queued while no worker served the queue
};

/// What a platform's answer says about its rate.
struct RateSignal {
    bool refused = false;
    std::optional<std::chrono::seconds> not_before;  ///< when refused: the platform's own waiting time
    bool silent = false;                             ///< there was no answer
    bool is_estimate = false;  ///< `not_before` is only the least: it grows with each refusal in a row
};

/// What a look-up says about it.
RateSignal rate_signal_of(const LookupResult& lookup);

/// Why a look-up that is not `ok` failed.
LookFailure why_failed(const LookupResult& lookup);

/// When a call that was not given a permit may ask again.
struct NotYet {
    Instant until;
    /// Up to so much later, at random: many look-ups may be told the same.
    std::chrono::seconds spread{0};
};

/// A permit for a call at `now` that is over at `until` at the latest, or when to ask again. `queued_since`:
/// since when the delivery has been in the window's queue; nullopt: it is not in it. A write that is not
/// queued gets no permit while others are; one that is refused has to be queued by the caller, and the
/// window's row says by then that it has a queue. Errors: the database's.
Result<tl::expected<Permit, NotYet>> acquire_permit(Transaction& transaction, const Quota& quota, Call call,
                                                    std::optional<Instant> queued_since, Instant now,
                                                    Instant until);

/// Gives the permit back at `now`. A refusal closes the window for all workers, for as long as the platform
/// says and a little longer, or by full jitter (`random01`) over the refusals in a row. `is_queued_now`: the
/// caller queues the refused delivery. Returns until when the window is closed; nullopt when the call was not
/// refused. Errors: the database's.
Result<std::optional<Instant>> release_permit(Transaction& transaction, const Permit& permit,
                                              const RateSignal& signal, bool is_queued_now, Instant now,
                                              double random01);

/// As open_queue(), for a delivery that joins a queue which mostly exists already: many may do so at the
/// same time. Errors: the database's.
Result<void> join_queue(Transaction& transaction, const std::string& queue, Instant now);

/// Notes in the window's row that deliveries were queued for it. Errors: the database's.
Result<void> open_queue(Transaction& transaction, const std::string& window, Instant now);

/// Notes in the window's row that its queue is over, unless a delivery is in it. Errors: the database's.
Result<void> close_empty_queue(Store& store, const std::string& window);

}  // namespace epilogue
