#include "base/rate_limit.h"

#include <charconv>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr int largest_count = 5000;  // the instants of so many writes are kept

std::optional<std::chrono::seconds> span_named(std::string_view name) {
    if (name == "s") return std::chrono::seconds{1};
    if (name == "min") return std::chrono::minutes{1};
    if (name == "h") return std::chrono::hours{1};
    return std::nullopt;
}

}  // namespace

std::optional<std::vector<RateLimit>> parse_rate_limits(std::string_view text) {
    std::vector<RateLimit> limits;
    for (const auto& part : split(text, ' ')) {
        RateLimit limit;
        const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), limit.count);
        const std::string_view unit(rest, static_cast<std::size_t>(part.data() + part.size() - rest));
        const auto span = unit.starts_with('/') ? span_named(unit.substr(1)) : std::nullopt;
        if (error != std::errc() || limit.count < 1 || limit.count > largest_count || !span)
            return std::nullopt;
        limit.span = *span;
        limits.push_back(limit);
    }
    return limits;
}

}  // namespace epilogue
