// Whose limits a call of a sink counts against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rate_limit.h"

namespace epilogue {

/// All empty: the platform counts no calls. The windows' names are the credential, or begin with it and "/".
struct Quota {
    std::string credential;                ///< what is refused or accepted as a whole; shows no secret
    std::string setting;                   ///< where it is configured, for people: "[github] token"
    std::string window;                    ///< writes that the platform counts together
    std::string look_window;               ///< the same of look-ups; may be that of the writes
    std::vector<RateLimit> limits;         ///< of the writes
    std::vector<RateLimit> look_limits{};  ///< of the look-ups, which are counted by themselves
};

/// "github:" and the first 16 hex digits of the token's SHA-256; "github:none" without one. When `api_url` is
/// not on the platform's own `origin`, "@" and the host follow: what one host refuses another may take, and
/// one may be down while the other is not.
std::string credential_of(std::string_view platform, std::string_view token, std::string_view api_url = {},
                          std::string_view origin = {});

/// The platform in a credential's name: "github".
std::string platform_of(std::string_view credential);

/// What the key `budget` means: "off", the limits it lists, or "auto": `published` when `api_url` is on the
/// platform's own `origin`, else none.
std::vector<RateLimit> limits_of(std::string_view budget, std::string_view api_url, std::string_view origin,
                                 std::string_view published);

/// Five look-ups for each write that the limits allow, as GitHub weighs them.
std::vector<RateLimit> look_limits_of(std::vector<RateLimit> limits);

/// What quota_by_credential() is made of.
struct CredentialQuota {
    std::string_view platform;  ///< "github": of the credential's name and of the setting
    std::string_view token;
    std::string_view budget;  ///< the key `budget`
    std::string_view api_url;
    std::string_view origin;     ///< the platform's own
    std::string_view published;  ///< its limits there
    std::string setting = {};    ///< as Quota has it; "": the token of the platform's section
};
/// The quota where a platform counts all calls of a credential together: one window for writes and look-ups.
Quota quota_by_credential(const CredentialQuota& of);

}  // namespace epilogue
