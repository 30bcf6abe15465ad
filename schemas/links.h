// Links to pull and merge requests in text that anybody may have written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

constexpr std::size_t max_links = 32;         ///< of one call
constexpr std::size_t max_link_bytes = 1024;  ///< a longer one is none

/// The links to pull requests (https://HOST/OWNER/REPO/pull/N) and merge requests
/// (https://HOST/GROUP/…/-/merge_requests/N) in `text`, each cut after its number and named once, in order of
/// appearance, the host in lower case. A link with a user name or password in it is none.
std::vector<std::string> request_links(std::string_view text);

}  // namespace epilogue
