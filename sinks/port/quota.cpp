#include "sinks/port/quota.h"

#include <algorithm>

#include "base/ids.h"
#include "sinks/port/http_answer.h"

namespace epilogue {

std::string credential_of(std::string_view platform, std::string_view token, std::string_view api_url,
                          std::string_view origin) {
    constexpr std::size_t digits = 16;
    constexpr std::size_t longest_host = 50;  // the column has 80 characters
    const std::string name =
        std::string(platform) + ":" + (token.empty() ? "none" : sha256_hex(token).substr(0, digits));
    const std::string own = origin_of(api_url);
    if (own == origin) return name;
    const std::string host = own.substr(std::min(own.size(), own.find("://") + 3));
    return name + "@" + (host.size() <= longest_host ? host : sha256_hex(host).substr(0, digits));
}

std::string platform_of(std::string_view credential) {
    return std::string(credential.substr(0, credential.find(':')));
}

std::vector<RateLimit> limits_of(std::string_view budget, std::string_view api_url, std::string_view origin,
                                 std::string_view published) {
    const bool is_auto = budget == "auto";
    if (budget == "off" || (is_auto && origin_of(api_url) != origin)) return {};
    return parse_rate_limits(is_auto ? published : budget).value_or(std::vector<RateLimit>{});
}

std::vector<RateLimit> look_limits_of(std::vector<RateLimit> limits) {
    constexpr int looks_for_a_write = 5;
    for (RateLimit& limit : limits) limit.count *= looks_for_a_write;
    return limits;
}

Quota quota_by_credential(const CredentialQuota& of) {
    const auto credential = credential_of(of.platform, of.token, of.api_url, of.origin);
    const auto limits = limits_of(of.budget, of.api_url, of.origin, of.published);
    return {.credential = credential,
            .setting = of.setting.empty() ? "[" + std::string(of.platform) + "] token" : of.setting,
            .window = credential,
            .look_window = credential,
            .limits = limits,
            .look_limits = look_limits_of(limits)};
}

}  // namespace epilogue
