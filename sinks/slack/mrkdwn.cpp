#include "sinks/slack/mrkdwn.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "base/text.h"
#include "sinks/format/markdown_tree.h"

namespace epilogue {
namespace {

std::string escaped(std::string_view text) {
    return replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

bool is_web(std::string_view url) {
    return (url.starts_with("https://") || url.starts_with("http://")) &&
           url.find_first_of("|<> \t\n") == std::string_view::npos;
}

/// Writes one document. Blocks end with a line's end; what stands in quotes and lists is put behind its mark.
class Writer {
  public:
    std::string children_of(cmark_node* node) {
        // Deeper nesting is an attack: recursion must not use up the thread's stack.
        constexpr int deepest = 50;
        if (depth_ == deepest) return escaped(plain_text(node));
        ++depth_;
        std::string text;
        for (auto* child = cmark_node_first_child(node); child != nullptr; child = cmark_node_next(child)) {
            const auto part = text_of(child);
            // Blocks stand apart by a blank line, except in a tight list.
            if (!text.empty() && !is_inline(child) && !part.empty()) text += gap_before(child);
            text += part;
        }
        --depth_;
        return text;
    }

  private:
    static std::string_view gap_before(cmark_node* block) {
        auto* const parent = cmark_node_parent(block);
        const auto type = std::string_view(cmark_node_get_type_string(parent));
        const bool tight = type == "list" ? cmark_node_get_list_tight(parent) != 0
                                          : type == "item" || type == "tasklist" || type.starts_with("table");
        return tight ? "\n" : "\n\n";
    }

    /// `text` with `first` before its first line and `other` before the others.
    static std::string behind(std::string_view first, std::string_view other, std::string_view text) {
        return std::string(first) + replaced(text, "\n", "\n" + std::string(other));
    }

    static std::string fenced(std::string_view code) {
        constexpr std::string_view fence = "```";
        // mrkdwn knows no longer fence: the code's own are spelled otherwise.
        auto text = replaced(escaped(code), fence, "'''");
        while (text.ends_with('\n')) text.pop_back();
        return std::string(fence) + "\n" + text + "\n" + std::string(fence);
    }

    std::string wrapped(std::string_view mark, cmark_node* node) {
        const auto inner = children_of(node);
        return inner.empty() ? inner : std::string(mark) + inner + std::string(mark);
    }

    std::string link(cmark_node* node) {
        const auto url = text_or_empty(cmark_node_get_url(node));
        const auto text = replaced(escaped(plain_text(node)), "|", "¦");
        if (!is_web(url)) return text;
        return "<" + replaced(url, "&", "&amp;") + (text.empty() ? "" : "|" + text) + ">";
    }

    /// The box of a task; "" for other items.
    static std::string box(cmark_node* item) {
        if (std::string_view(cmark_node_get_type_string(item)) != "tasklist") return {};
        return cmark_gfm_extensions_get_tasklist_item_checked(item) ? "☑ " : "☐ ";
    }

    std::string list(cmark_node* node) {
        std::string text;
        const bool ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
        int number = cmark_node_get_list_start(node);
        for (auto* item = cmark_node_first_child(node); item != nullptr; item = cmark_node_next(item)) {
            if (!text.empty()) text += gap_before(item);
            const auto mark = ordered ? std::to_string(number++) + ". " : std::string("• ");
            text += behind(mark + box(item), "    ", children_of(item));
        }
        return text;
    }

    std::string row(cmark_node* node) {
        std::string text;
        for (auto* cell = cmark_node_first_child(node); cell != nullptr; cell = cmark_node_next(cell))
            text += (text.empty() ? "" : " | ") + children_of(cell);
        return text;
    }

    /// What GitHub's dialect adds: known by name only.
    std::string extension(cmark_node* node) {
        const auto type = std::string_view(cmark_node_get_type_string(node));
        if (type == "strikethrough") return wrapped("~", node);
        if (type == "table_row" || type == "table_header") return row(node);
        return children_of(node);
    }

    std::string text_of(cmark_node* node) {
        const auto literal = text_or_empty(cmark_node_get_literal(node));
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_SOFTBREAK:
            case CMARK_NODE_LINEBREAK:
                return "\n";
            case CMARK_NODE_CODE:
                return "`" + replaced(escaped(literal), "`", "'") + "`";
            case CMARK_NODE_CODE_BLOCK:
                return fenced(literal);
            case CMARK_NODE_EMPH:
                return wrapped("_", node);
            case CMARK_NODE_STRONG:
            case CMARK_NODE_HEADING:
                return wrapped("*", node);
            case CMARK_NODE_LINK:
                return link(node);
            case CMARK_NODE_IMAGE:
                return escaped(plain_text(node));
            case CMARK_NODE_LIST:
                return list(node);
            case CMARK_NODE_BLOCK_QUOTE:
                return behind("> ", "> ", children_of(node));
            case CMARK_NODE_THEMATIC_BREAK:
                return "———";
            case CMARK_NODE_TEXT:
            case CMARK_NODE_HTML_BLOCK:
            case CMARK_NODE_HTML_INLINE:
                return escaped(literal);
            default:
                return extension(node);
        }
    }

    int depth_ = 0;
};

}  // namespace

std::string mrkdwn(std::string_view markdown) {
    const MarkdownTree tree(markdown);
    return Writer().children_of(tree.root());
}

}  // namespace epilogue
