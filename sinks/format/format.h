// Untrusted Markdown made harmless, fitted and put together. (contract §10 Body, sinks.md §3)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "schemas/summary.h"

namespace epilogue {

/// What untrusted text becomes before it enters a post: cleaned, then defused; apart from zero-width spaces
/// it is otherwise word for word. neutralised(neutralised(x)) == neutralised(x).
std::string neutralised(std::string_view text);

/// `markdown` neutralised, in at most `max_characters` code points (at least 100), cut between two of them,
/// an open code fence closed; what was cut ends with a line that says so. fitted(fitted(x, n), n) ==
/// fitted(x, n).
std::string fitted(std::string_view markdown, std::size_t max_characters);

/// A post in Markdown: headline, words, facts, link (http or https), then `marker` unless it is empty, each
/// apart by a blank line, empty ones left out. Everything but the marker is neutralised; at most
/// `max_characters` (at least 10,000) in all, for which the words give way first.
std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters);

}  // namespace epilogue
