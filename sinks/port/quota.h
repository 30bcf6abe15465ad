// Whose limits a call of a sink counts against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rate_limit.h"

namespace epilogue {

/// All empty: the platform counts no calls.
struct Quota {
    std::string credential;         ///< what is refused or accepted as a whole; shows no secret
    std::string setting;            ///< where it is configured, for people: "[github] token"
    std::string window;             ///< writes that the platform counts together
    std::string look_window;        ///< the same of look-ups; may be that of the writes
    std::vector<RateLimit> limits;  ///< of the writes
};

/// "github:" and the first 16 hex digits of the token's SHA-256; "github:none" without one.
std::string credential_of(std::string_view platform, std::string_view token);

/// What the key `budget` means: "off", the limits it lists, or "auto": `published` when `api_url` is on the
/// platform's own `origin`, else none.
std::vector<RateLimit> limits_of(std::string_view budget, std::string_view api_url, std::string_view origin,
                                 std::string_view published);

}  // namespace epilogue
