#include "sinks/port/quota.h"

#include "base/ids.h"
#include "sinks/port/http_answer.h"

namespace epilogue {

std::string credential_of(std::string_view platform, std::string_view token) {
    constexpr std::size_t digits = 16;
    return std::string(platform) + ":" + (token.empty() ? "none" : sha256_hex(token).substr(0, digits));
}

std::vector<RateLimit> limits_of(std::string_view budget, std::string_view api_url, std::string_view origin,
                                 std::string_view published) {
    const bool is_auto = budget == "auto";
    if (budget == "off" || (is_auto && origin_of(api_url) != origin)) return {};
    return parse_rate_limits(is_auto ? published : budget).value_or(std::vector<RateLimit>{});
}

}  // namespace epilogue
