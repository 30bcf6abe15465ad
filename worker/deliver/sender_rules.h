// What the parts of a sender share: the rules they go by, and what they tell their observer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sinks/port/sink.h"
#include "worker/core/delivery.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

struct SenderRules {
    std::string owner;  ///< this worker's name, as the lease spells it
    std::chrono::milliseconds lease{60000};
    std::chrono::milliseconds http_timeout{20000};  ///< for all requests of one call of a sink together
    std::chrono::seconds dedup_after{60};  ///< how long after a post it is checked for duplicates; 0: never
};

/// What a sender tells its observer (metrics, the log). Every function may be called from any sender's
/// thread.
struct SenderObserver {
    /// So many deliveries of the sink entered the state.
    std::function<void(const std::string& sink, DeliveryState, std::int64_t rows)> entered = [](auto&&, auto,
                                                                                                auto) {};
    /// A delivery's new state is durable.
    std::function<void(const DeliveryRow&)> changed = [](auto&&) {};
    /// So many deliveries of a credential entered the state at once, because it is refused or works again.
    std::function<void(const std::string& credential, DeliveryState, std::int64_t rows)> settled =
        [](auto&&, auto, auto) {};
    std::function<void(const std::string& sink, Answer)> answered = [](auto&&, auto) {};
    /// A call of the sink is over: "post" or "look_up", and how long it took.
    std::function<void(const std::string& sink, std::string_view call, std::chrono::duration<double>)>
        called = [](auto&&, auto, auto) {};
    /// A look-up is over: "found", "absent", "failed" or "forbidden".
    std::function<void(const std::string& sink, std::string_view result)> looked = [](auto&&, auto) {};
    /// A post is visible, so long after it was owed.
    std::function<void(const std::string& sink, std::chrono::duration<double>)> visible = [](auto&&, auto) {};
    /// The same, so long after the event that ended its turn was recorded.
    std::function<void(const std::string& sink, std::chrono::duration<double>)> visible_after_event =
        [](auto&&, auto) {};
    /// A duplicate was not sent: it was found on the platform.
    std::function<void(std::string_view where)> suppressed = [](auto) {};
    /// A duplicate was removed from the platform.
    std::function<void(const std::string& sink)> duplicate_removed = [](auto&&) {};
    /// A record was refused, because another sender has the delivery by now.
    std::function<void()> fenced = [] {};
    /// A post fell due before its summary was frozen: the summary was frozen without the agent's words.
    std::function<void(const std::string& source)> froze = [](auto&&) {};
};

}  // namespace epilogue
