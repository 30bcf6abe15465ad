// `epilogue demo --real` (contract §9): a real agent works, and its end arrives.
#pragma once

#include <filesystem>
#include <stop_token>

#include "ops/embedded_demo/demo.h"

namespace epilogue::demo {

struct RealDemoOptions {
    std::filesystem::path environment;  ///< of Python, with the agent server
    bool keep = false;                  ///< everything goes on running until `stop`
};

/// As run_demo(), with a real agent server and a relay: one conversation, its events as they come through
/// the topic, its post. It takes as long as the agent server needs to start, and then about 15 seconds.
DemoEnd run_real_demo(const RealDemoOptions& options, const std::stop_token& stop);

}  // namespace epilogue::demo
