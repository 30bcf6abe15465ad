// A message of ours that is written into again: the newest post on top, those before it folded below.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace epilogue {

/// What a message becomes that shows `shown` when `newest`, which ends with its marker, is written into it.
/// Posts of ours that it holds stay in a `<details>`, newest first, each with its marker; a text that ends
/// with no marker (an acknowledgement) gives way. At most `max_characters`, which `newest` keeps: the oldest
/// are left out.
std::string folded(std::string_view newest, std::string_view shown, std::size_t max_characters);

/// The short post that says where `body`, which ends with its marker, was written to: its headline, and a
/// link to `url` (none when that is empty).
std::string notice_of(std::string_view body, std::string_view url);

}  // namespace epilogue
