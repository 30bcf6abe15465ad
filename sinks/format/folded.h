// A message of ours that is written into again: the newest post on top, those before it folded below.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace epilogue {

/// What a message becomes that shows `shown` when `post`, which ends with its marker, is written into it: it
/// stands above the posts of ours that are there, but below those that are `newer`. The first is shown, the
/// others stay below it in a `<details>`, each with its marker; a text that ends with no marker (an
/// acknowledgement) gives way. At most `max_characters`, which a single post keeps: the last are left out.
std::string folded(std::string_view post, std::string_view shown, const std::vector<DeliveryId>& newer,
                   std::size_t max_characters);

/// The short post that says where `body`, which ends with its marker, was written to: its headline, and a
/// link to `url` (none when that is empty).
std::string notice_of(std::string_view body, std::string_view url);

}  // namespace epilogue
