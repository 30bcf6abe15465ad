// When each event of the scenarios is published: interleaved, as live conversations are.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "ops/embedded_demo/scenario.h"

namespace epilogue::demo {

struct ScheduledEvent {
    std::chrono::milliseconds at{};  ///< since the run began
    std::size_t scenario = 0;
    std::size_t event = 0;
};

/// All events, by time. An agent takes a moment before each of its actions and words, and so does a user;
/// what the server says about them follows at once.
std::vector<ScheduledEvent> schedule(const std::vector<Scenario>& scenarios);

}  // namespace epilogue::demo
