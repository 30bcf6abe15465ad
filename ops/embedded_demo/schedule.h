// When each event of the programme is published: interleaved, as live conversations are.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "ops/embedded_demo/scenario.h"

namespace epilogue::embedded {

struct Cue {
    std::chrono::milliseconds at{};  ///< since the play began
    std::size_t story = 0;
    std::size_t event = 0;
};

/// All events, by time. An agent takes a moment before each of its actions and words, and so does a user;
/// what the server says about them follows at once.
std::vector<Cue> schedule(const std::vector<Story>& stories);

}  // namespace epilogue::embedded
