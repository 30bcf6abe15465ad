// Untrusted Markdown made harmless, fitted and put together. (contract §10 Body, sinks.md §3)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sinks/sink.h"

namespace epilogue {

/// `text` as valid UTF-8 without what is unseen or steers a display: control characters but \n and \t,
/// bidirectional controls, zero-width and tag characters. Malformed bytes become U+FFFD.
std::string without_unseen(std::string_view text);

/// `text` with every HTML entity of the at sign decoded, and U+200B after each `@` that a name could follow:
/// no mention is left, in prose, code or links, neither in the source nor once it is rendered.
std::string without_mentions(std::string_view text);

/// What untrusted text becomes before it enters a post in Markdown: valid UTF-8, nothing unseen, no HTML
/// comment (so no foreign marker), no mention; otherwise word for word. neutralised(neutralised(x)) ==
/// neutralised(x).
std::string neutralised(std::string_view text);

/// `markdown` in at most `max_characters` code points (at least 100), cut between two of them, an open code
/// fence closed; what was cut ends with a line that says so.
std::string fitted(std::string_view markdown, std::size_t max_characters);

/// A Markdown post: headline, words, facts, link (http or https), then `marker`, each apart by a blank line,
/// empty ones left out. Everything but the marker is neutralised; at most `max_characters` (at least 24,000)
/// in all, for which the words give way first.
std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters);

}  // namespace epilogue
