// Links that are not what they seem. (sinks.md §3: link spoof)
#pragma once

#include <string_view>

namespace epilogue {

/// True when a link with `text` to `url` deceives: the text names another host, or the address has a user
/// name, an international host, or a scheme that is not of the web or of mail. A text without a host is no
/// deceit.
bool is_deceptive_link(std::string_view text, std::string_view url);

/// True when an address that is its own text deceives: user name, international host, another scheme.
bool is_deceptive_url(std::string_view url);

}  // namespace epilogue
