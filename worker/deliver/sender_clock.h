// The clock and the chance that a sender uses; injected, so that a simulation can decide both.
#pragma once

#include <chrono>
#include <functional>

namespace epilogue {

struct SenderClock {
    std::function<std::chrono::nanoseconds()> boottime;  ///< CLOCK_BOOTTIME: goes on while the machine sleeps
    std::function<double()> random01;                    ///< from 0 up to 1
};

/// This machine's.
SenderClock system_sender_clock();

}  // namespace epilogue
