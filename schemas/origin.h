// Where a user message came from: its sender says so, in a mark that is the text's last line or in the
// event's `sender`. (contract §4 "Turns")
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// The mark: `<!-- epilogue:from <origin> -->`.
std::string origin_mark(std::string_view origin);

/// The origin in the mark that `text` ends with, white space aside; "": it ends with none.
std::string_view origin_in(std::string_view text);

/// True for what can be an origin: 1 to 512 bytes without white space and control characters.
bool is_origin(std::string_view text);

}  // namespace epilogue
