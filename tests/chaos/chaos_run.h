// One run: real broker, real database, three workers, a fake platform, and a nemesis; then
// everything heals, has to converge, and is judged.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace epilogue::testing {

struct ChaosPlan {
    std::uint64_t seed = 1;
    std::size_t conversations = 2000;
    /// How long faults are injected; 0: until each of the short form's has been.
    std::chrono::minutes minutes{0};
    std::filesystem::path logs;  ///< a folder for the workers' logs; empty: they are not kept
};

/// Runs it and prints what happens and what was found. True when nothing is lost, doubled or wrong, and the
/// short form's figures are reached. Throws std::runtime_error when a server of the test fails.
bool run_chaos(const ChaosPlan& plan);

}  // namespace epilogue::testing
