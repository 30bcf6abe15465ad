// The windows of sinks.md §2.2, each as something that can be run, and what is promised of it at least.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/integration/guarantees/window_trial.h"

namespace epilogue::testing {

/// What became of the posts of a cell, best first: docs/guarantees.md has the words.
constexpr std::string_view grades = "1LHRM2";

/// Of one run; '0' when nothing is visible and no operator is asked.
char grade_of(const Score& score);

struct Window {
    std::string name;  ///< "W3"
    std::string what;  ///< what happens in it
    std::array<char, kinds.size()> bar{};
    std::function<void(WindowTrial&)> run;
};

/// In the order of the table.
std::vector<Window> windows();

/// Runs one; `runs` posts for each kind.
std::vector<std::vector<Score>> scores_of(const Window& window, const Database& server,
                                          const std::string& database, std::size_t runs);

}  // namespace epilogue::testing
