// docs/guarantees.md, made from what a run has counted.
#pragma once

#include <string>
#include <vector>

#include "tests/integration/guarantees/window.h"

namespace epilogue::testing {

/// The runs of one window and kind, as their worst.
struct Cell {
    char grade = '0';
    std::size_t runs = 0;
    std::size_t tried = 0;
    std::size_t made = 0;
    std::size_t removed = 0;
    std::size_t visible = 0;
    std::size_t most = 0;  ///< of one run, visible at the same time
};
Cell cell_of(const std::vector<Score>& scores);

/// True when `grade` promises as much as `bar`, or more.
bool is_as_good(char grade, char bar);

struct WindowResult {
    Window window;
    std::vector<Cell> cells;  ///< one for each of `kinds`
};

/// The whole page.
std::string guarantees_page(const std::vector<WindowResult>& results);

}  // namespace epilogue::testing
