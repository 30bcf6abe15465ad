// Rows of rate_windows, and the queues of deliveries that wait for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "worker/core/rate_window.h"

namespace epilogue {

struct DueDelivery;

/// The name of the queue in which look-ups of the credential wait while its platform is down.
inline std::string look_queue_of(const std::string& credential) {
    return credential + "/look-ups";
}

/// Not thread-safe; valid as long as its transaction.
class RateLimitRows {
  public:
    RateLimitRows() = default;
    RateLimitRows(const RateLimitRows&) = delete;
    RateLimitRows& operator=(const RateLimitRows&) = delete;
    virtual ~RateLimitRows() = default;

    /// As it was last committed; an empty one when there is none.
    virtual Result<RateWindow> read(const std::string& window) = 0;
    /// The same under a shared lock: others may share it too, no transaction changes it meanwhile.
    virtual Result<RateWindow> share_lock(const std::string& window) = 0;
    /// The same, locked, created when missing.
    virtual Result<RateWindow> lock(const std::string& window) = 0;
    /// `open_at`: when the next write may begin.
    virtual Result<void> update(const std::string& window, const RateWindow& row, Instant open_at) = 0;
    /// Names of windows that are open for a write and waited for, longest open first; without those whose
    /// credential has the breaker open for what waits there (`look_queue_of`, or a post).
    virtual Result<std::vector<std::string>> open_queues(std::size_t limit) = 0;
    /// Deliveries queued for the window, oldest first, that are not leased and that are the oldest open one
    /// of their callback.
    virtual Result<std::vector<DueDelivery>> queue_heads(const std::string& window, std::size_t limit) = 0;
    /// True when any delivery is queued for it.
    virtual Result<bool> has_queue(const std::string& window) = 0;
};

}  // namespace epilogue
