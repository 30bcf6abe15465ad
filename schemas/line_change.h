// How many lines an edit added and removed.
#pragma once

#include <cstdint>
#include <string_view>

namespace epilogue {

struct LineChange {
    std::int64_t added = 0;
    std::int64_t removed = 0;
    bool operator==(const LineChange&) const = default;
};

/// Between two contents of a file, as a line diff counts them. Where far more than 1,000 lines differ in one
/// stretch, all of its lines count as removed and added.
LineChange line_change(std::string_view before, std::string_view after);

}  // namespace epilogue
