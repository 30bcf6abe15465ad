// The form that HTTP gives to points in time.
#pragma once

#include <optional>
#include <string_view>

#include "base/instant.h"

namespace epilogue {

/// Reads "Sun, 06 Nov 1994 08:49:37 GMT"; the two obsolete forms of RFC 9110 §5.6.7 are not read. nullopt for
/// any other text.
std::optional<Instant> parse_http_date(std::string_view text);

}  // namespace epilogue
