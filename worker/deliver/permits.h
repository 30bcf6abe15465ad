// A call's permit in its rate window, which the whole pool shares: asked for in the claim's transaction,
// given back with the answer. A sender that dies keeps its permit until its lease ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "sinks/port/quota.h"
#include "worker/store/store.h"

namespace epilogue {

struct Permit {
    Call call = Call::write;
    std::string window;  ///< empty: nobody counts
    std::vector<RateLimit> limits;
    Instant begun;
    std::optional<Instant> until;  ///< as the window keeps it; nullopt: it keeps nothing of this call
    bool was_struck = false;       ///< the window's last call was refused
    bool neglected = false;        ///< it stood in line while nobody saw to the line
};

/// What a platform's answer says about its rate.
struct RateWord {
    bool refused = false;
    std::optional<std::chrono::seconds> not_before;  ///< when refused: the platform's own waiting time
    bool silent = false;                             ///< there was no answer
};

/// When a call that was not given a permit may ask again.
struct NotYet {
    Instant until;
};

/// A permit for a call at `now` that is over at `until` at the latest, or when to ask again. A write that
/// stands in no line yet (`in_line_since`) waits for those that do; whoever is refused a write has to get in
/// line, and the window knows by then.
Result<tl::expected<Permit, NotYet>> take_permit(Transaction& transaction, const Quota& quota, Call call,
                                                 std::optional<Instant> in_line_since, Instant now,
                                                 Instant until);

/// Gives the permit back. A refusal closes the window for everybody, for as long as the platform says and a
/// bit, or by full jitter (`random01`) over the refusals in a row; `gets_in_line`: whoever was refused waits
/// for it. Returns until when it is closed.
Result<std::optional<Instant>> return_permit(Transaction& transaction, const Permit& permit,
                                             const RateWord& word, bool gets_in_line, Instant now,
                                             double random01);

/// Deliveries have just got in line for it.
Result<void> open_line(Transaction& transaction, const std::string& window, Instant now);

/// The window's line is over when nobody stands in it.
Result<void> close_empty_line(Store& store, const std::string& window);

}  // namespace epilogue
