// Untrusted Markdown made harmless, cut to size and put together. (contract §10 Body, sinks.md §3)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "schemas/summary.h"

namespace epilogue {

/// What untrusted text becomes before it enters a post: strip_unsafe, then neutralise; apart
/// from zero-width spaces it is otherwise word for word. sanitise(sanitise(x)) == sanitise(x).
std::string sanitise(std::string_view text);

/// `markdown` sanitised, in at most `max_characters` code points (at least 100), cut between two of them,
/// an open code fence closed; what was cut ends with a line that says so. truncate(truncate(x, n), n) ==
/// truncate(x, n).
std::string truncate(std::string_view markdown, std::size_t max_characters);

/// A post in Markdown: headline, words, facts, link (http or https), then `marker` unless it is empty, each
/// apart by a blank line, empty ones left out. Everything but the marker is sanitised; at most
/// `max_characters` (at least 10,000) in all, for which the words give way first.
std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters);

}  // namespace epilogue
