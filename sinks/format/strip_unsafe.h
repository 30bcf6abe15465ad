// What is taken out of untrusted text before anything else is done to it. (sinks.md §3)
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// `text` as valid UTF-8 without what is unseen or steers a display: control characters but \n and \t,
/// bidirectional controls, zero-width and tag characters. Malformed bytes become U+FFFD.
std::string without_unseen(std::string_view text);

/// `text` without what may not be in a post at all: nothing unseen, no HTML comment (so no foreign marker),
/// no at sign in disguise (entities are decoded), no secret. strip_unsafe(strip_unsafe(x)) ==
/// strip_unsafe(x).
std::string strip_unsafe(std::string_view text);

}  // namespace epilogue
