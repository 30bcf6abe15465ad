// Markdown as a platform's parser reads it (cmark-gfm): what in it is alive, and what it leaves open.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// What a reader must not be given: it loads, hides or runs something.
enum class Live {
    html,      ///< a tag: an image, a form, something that is folded away
    image,     ///< fetched from a foreign host as soon as a reader opens the page
    link,      ///< leads elsewhere than its text says, or is no web address
    autolink,  ///< an address that poses as another: user name, international host
    fence,     ///< code that a platform draws or offers to apply: ```mermaid, ```suggestion
};

struct LiveSpot {
    Live kind = Live::html;
    std::size_t first_line = 0;  ///< of the block it stands in, from 0
    std::size_t last_line = 0;
};

/// All live spots of `markdown` (valid UTF-8, lines end with \n), in order, each block's kind once.
/// Thread-safe.
std::vector<LiveSpot> live_spots(std::string_view markdown);

/// The line that closes the code fence `markdown` leaves open at its end, indented as its opening was; empty
/// when none is open. Fences in quotes and list items end with their container, so those need no line.
std::string closing_fence(std::string_view markdown);

}  // namespace epilogue
