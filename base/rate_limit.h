// How much a platform takes, as people write it: "1/s 80/min 500/h".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace epilogue {

/// At most `count` in any span of that length.
struct RateLimit {
    int count = 1;
    std::chrono::seconds span{1};
    bool operator==(const RateLimit&) const = default;
};

/// Reads limits separated by blanks: a count from 1 to 5000, `/`, and `s`, `min` or `h`. An empty text is an
/// empty list. nullopt when any of it has another form.
std::optional<std::vector<RateLimit>> parse_rate_limits(std::string_view text);

}  // namespace epilogue
