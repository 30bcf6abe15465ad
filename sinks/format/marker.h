// The marker: an HTML comment by which a post of ours is found again. (contract §6)
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// The marker line of `delivery_id`, without a newline: `<!-- epilogue:1 id=… mac=… -->`. The mac is the
/// first 16 hex digits of HMAC-SHA256(`key`, delivery_id): who lacks the key cannot write it before we have
/// posted it.
std::string marker_line(std::string_view key, std::string_view delivery_id);

/// The marker that a frozen body carries as its last line, or an empty view. A key that was rotated since
/// does not change what was posted, so a look-up takes the marker from the row's body when it still has one.
std::string_view marker_of(std::string_view body);

/// The marker of `delivery_id`: the one frozen into `body`, else the one that `key` would make today.
std::string marker_in(std::string_view body, std::string_view key, std::string_view delivery_id);

/// True when a whole line of `text` is `marker`; line ends may be CRLF (an edit in a browser makes them so).
bool holds_marker(std::string_view text, std::string_view marker);

/// `text` without its HTML comments: foreign markers, and our instructions to the agent, go with them. A
/// comment that is never closed would swallow what we put below it: its opening becomes `&lt;!--`, the words
/// stay. No `<!--` is left, not even one that came together because a comment between its halves was taken
/// out.
std::string without_comments(std::string_view text);

}  // namespace epilogue
