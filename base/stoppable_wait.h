// Waits of a thread that has to end when it is told to stop.
#pragma once

#include <chrono>
#include <stop_token>

namespace epilogue {

/// Waits for `duration`. True when it has passed; false, at once, when `stop` is or was requested.
bool wait_or_stop(const std::stop_token& stop, std::chrono::nanoseconds duration);

/// Waits until `stop` is requested.
void wait_for_stop(const std::stop_token& stop);

}  // namespace epilogue
