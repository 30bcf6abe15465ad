#include "base/http_date.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace epilogue {

std::optional<Instant> parse_http_date(std::string_view text) {
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    constexpr std::size_t length = 29;
    if (text.size() != length || !text.ends_with(" GMT")) return std::nullopt;
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    if (month == months.end()) return std::nullopt;
    return parse_instant(fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4), month - months.begin() + 1,
                                     text.substr(5, 2), text.substr(17, 8)));
}

}  // namespace epilogue
