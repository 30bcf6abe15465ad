// `epilogue demo` (contract §9): the whole system, embedded, on recorded real conversations.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "ops/embedded_demo/demo_runner.h"

namespace epilogue::demo {

struct DemoOptions {
    bool keep = false;  ///< everything goes on running until `stop`
    PlantedFaults faults;
};

enum class DemoEnd {
    good,         ///< each expected post is there exactly once
    bad,          ///< it is not; what is wrong has been said
    interrupted,  ///< `stop` came before the end
};

/// The programs of MariaDB that the demo needs and this machine lacks.
std::vector<std::string> missing_for_demo();

/// Runs the demo on standard output, for less than a minute, and leaves nothing behind. All signals that ask
/// for `stop` must be blocked in the calling thread. Throws std::runtime_error when a part cannot be started,
/// or fails.
DemoEnd run_demo(const DemoOptions& options, const std::stop_token& stop);

}  // namespace epilogue::demo
