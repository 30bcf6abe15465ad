#include "agent/retry_after.h"

#include <algorithm>
#include <cstdint>

#include "base/http_date.h"
#include "base/instant.h"
#include "base/text.h"

namespace epilogue::agent {

std::chrono::seconds retry_after_in(const HttpAnswer& answer) {
    constexpr std::int64_t longest_s = 86'400;
    const auto found = answer.headers.find("retry-after");
    if (found == answer.headers.end()) return std::chrono::seconds(0);
    if (const auto seconds = integer_in(trimmed(found->second)))
        return std::chrono::seconds(std::clamp(*seconds, std::int64_t{0}, longest_s));
    const auto date = parse_http_date(trimmed(found->second));
    if (!date) return std::chrono::seconds(0);
    const auto left = std::chrono::ceil<std::chrono::seconds>(*date - system_now());
    return std::clamp(left, std::chrono::seconds(0), std::chrono::seconds(longest_s));
}

}  // namespace epilogue::agent
