#include "sinks/format/markdown.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "base/decoded_text.h"
#include "base/text.h"
#include "sinks/format/deceptive_link.h"
#include "sinks/format/markdown_tree.h"

namespace epilogue {
namespace {

/// First words of a fence's info that a platform does more with than to colour the code.
constexpr std::array<std::string_view, 12> drawn{"mermaid",    "geojson", "topojson", "stl",
                                                 "plantuml",   "kroki",   "graphviz", "dot",
                                                 "suggestion", "math",    "ditaa",    "blockdiag"};

/// Platforms read the info string more than once: what is still encoded in it, or has a backslash that
/// escapes nothing, may be resolved by the next reading.
bool is_drawn(std::string_view info) {
    constexpr std::string_view our_break = "\xE2\x80\x8B";
    if (info.starts_with(our_break)) return false;
    const auto says = [](std::string_view read) {
        const auto first = lowered(read.substr(0, read.find_first_of(" \t:{,-")));
        return std::find(drawn.begin(), drawn.end(), first) != drawn.end();
    };
    return says(info) || says(replaced(info, "\\", "")) || says(decoded_text(info).text);
}

/// What is alive at this node by itself.
std::optional<Live> live_at(cmark_node* node) {
    switch (cmark_node_get_type(node)) {
        case CMARK_NODE_HTML_BLOCK:
        case CMARK_NODE_HTML_INLINE:
        case CMARK_NODE_CUSTOM_BLOCK:
        case CMARK_NODE_CUSTOM_INLINE:
            return Live::html;
        case CMARK_NODE_IMAGE:
            return Live::image;
        case CMARK_NODE_CODE_BLOCK:
            return is_drawn(text_or_empty(cmark_node_get_fence_info(node))) ? std::optional(Live::fence)
                                                                            : std::nullopt;
        case CMARK_NODE_LINK: {
            const auto url = text_or_empty(cmark_node_get_url(node));
            const auto text = plain_text(node);
            const bool is_its_own_text = url == text || url == "http://" + text || url == "mailto:" + text;
            if (is_its_own_text) return is_deceptive_url(url) ? std::optional(Live::autolink) : std::nullopt;
            return is_deceptive_link(text, url) ? std::optional(Live::link) : std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

/// The block whose lines hold the node.
cmark_node* block_of(cmark_node* node) {
    while (is_inline(node)) node = cmark_node_parent(node);
    return node;
}

}  // namespace

std::vector<LiveSpot> live_spots(std::string_view markdown) {
    const MarkdownTree tree(markdown);
    std::vector<LiveSpot> spots;
    std::set<std::pair<std::size_t, Live>> known;
    tree.each([&](cmark_node* node, bool entering) {
        const auto kind = entering ? live_at(node) : std::nullopt;
        if (!kind) return;
        auto* const block = block_of(node);
        const auto first = static_cast<std::size_t>(std::max(cmark_node_get_start_line(block), 1)) - 1;
        const auto last = static_cast<std::size_t>(std::max(cmark_node_get_end_line(block), 1)) - 1;
        if (known.insert({first, *kind}).second) spots.push_back({*kind, first, std::max(first, last)});
    });
    return spots;
}

std::string closing_fence(std::string_view markdown) {
    // A paragraph of ours behind it is either that, or the open fence takes it in.
    constexpr std::string_view probe = "\n\nprobe";
    const MarkdownTree tree(std::string(markdown).append(probe));
    auto* const last = cmark_node_last_child(tree.root());
    int length = 0;
    int indent = 0;
    char character = '`';
    if (last == nullptr || cmark_node_get_type(last) != CMARK_NODE_CODE_BLOCK ||
        cmark_node_get_fenced(last, &length, &indent, &character) == 0)
        return {};
    return std::string(static_cast<std::size_t>(indent), ' ') +
           std::string(static_cast<std::size_t>(length), character);
}

}  // namespace epilogue
