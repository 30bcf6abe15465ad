// What the HTTP APIs of all platforms say in the same way: waiting times, further pages.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/instant.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// The header field `name` (lower case), or an empty view.
std::string_view header_of(const HttpAnswer& answer, const std::string& name);

/// `Retry-After`, given in seconds or as an HTTP date, as the time left from `now` on: at least 0 s, at most
/// 30 days. nullopt when it is absent or cannot be read.
std::optional<std::chrono::seconds> retry_after(const HttpAnswer& answer, Instant now);

/// The time left until the Unix time in the header field `name`; as retry_after otherwise.
std::optional<std::chrono::seconds> wait_until_epoch(const HttpAnswer& answer, const std::string& name,
                                                     Instant now);

/// What the answer shows of the platform as a whole: a 5xx, or none, is its failure.
PlatformState platform_state(const HttpAnswer& answer);

/// When the platform wrote the answer, by its own clock (`Date`); when it was received where that is not
/// said.
Instant time_of(const HttpAnswer& answer);

/// The target of `Link: <…>; rel="next"`, or an empty string when there is no further page.
std::string next_page(const HttpAnswer& answer);

/// The words of a header field that lists them with commas; nullopt when it is absent.
std::optional<std::vector<std::string>> list_in(const HttpAnswer& answer, const std::string& name);

/// Scheme and authority of `url` in lower case: "https://api.github.com". Empty when it has none.
std::string origin_of(std::string_view url);

/// `url` from its path on ("/a?b"); as it is when it has no origin.
std::string_view path_of(std::string_view url);

}  // namespace epilogue
