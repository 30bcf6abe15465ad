// cmark-gfm's parser as we need it: GitHub's dialect, in memory that it may read.
#pragma once

struct cmark_parser;

namespace epilogue {

/// A parser with `options` (CMARK_OPT_…) for tables, bare addresses as links, strike-through and tasks; free
/// it by cmark_parser_free, its document by cmark_node_free. Before each block of its memory there is room:
/// where an address of mail begins a text, the autolink extension of 0.29.0.gfm.6, Debian 12's, looks for
/// "mailto:" and "xmpp:" up to eight bytes before it (CVE-2023-22485). Without memory it ends the process, as
/// cmark-gfm's own does.
cmark_parser* new_markdown_parser(int options);

}  // namespace epilogue
