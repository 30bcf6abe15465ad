#include "sinks/jira/wiki_markup.h"

#include <algorithm>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "base/text.h"
#include "sinks/format/markdown_tree.h"

namespace epilogue {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";

/// Every sign that means something somewhere in a line of wiki markup, behind a backslash.
std::string escaped(std::string_view text) {
    constexpr std::string_view signs = "\\{}[]!|*_+^~?-#";
    std::string result;
    for (const char c : text) {
        if (signs.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

bool is_web(std::string_view url) {
    return (url.starts_with("https://") || url.starts_with("http://")) &&
           std::all_of(url.begin(), url.end(), [](char c) {
               return c > ' ' && c < '\x7f' && std::string_view("|[]{}\\!").find(c) == std::string_view::npos;
           });
}

/// Writes one document. Blocks end with a line's end; lists carry their marks in each item.
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
            if (!text.empty() && !is_inline(child) && !part.empty()) text += marks_.empty() ? "\n\n" : "\n";
            text += part;
        }
        --depth_;
        return text;
    }

  private:
    /// Code as it is: nothing in it means anything but the end.
    static std::string fenced(std::string_view code) {
        auto text = replaced(code, "{", "{" + std::string(zero_width_space));
        while (text.ends_with('\n')) text.pop_back();
        return "{noformat}\n" + text + "\n{noformat}";
    }

    std::string wrapped(std::string_view mark, cmark_node* node) {
        const auto inner = children_of(node);
        const bool can_be = !inner.empty() && trimmed(inner) == inner;
        return can_be ? std::string(mark) + inner + std::string(mark) : inner;
    }

    std::string link(cmark_node* node) {
        const auto url = text_or_empty(cmark_node_get_url(node));
        const auto text = escaped(plain_text(node));
        if (!is_web(url)) return text;
        return "[" + (text.empty() ? "" : text + "|") + std::string(url) + "]";
    }

    std::string list(cmark_node* node) {
        marks_ += cmark_node_get_list_type(node) == CMARK_ORDERED_LIST ? '#' : '*';
        std::string text;
        for (auto* item = cmark_node_first_child(node); item != nullptr; item = cmark_node_next(item)) {
            if (!text.empty()) text += '\n';
            text += marks_ + " " + box(item) + children_of(item);
        }
        marks_.pop_back();
        return text;
    }

    /// The box of a task; "" for other items.
    static std::string box(cmark_node* item) {
        if (std::string_view(cmark_node_get_type_string(item)) != "tasklist") return {};
        return cmark_gfm_extensions_get_tasklist_item_checked(item) ? "☑ " : "☐ ";
    }

    std::string row(cmark_node* node, std::string_view mark) {
        std::string text(mark);
        for (auto* cell = cmark_node_first_child(node); cell != nullptr; cell = cmark_node_next(cell)) {
            const auto inner = replaced(children_of(cell), "\n", " ");
            text += (inner.empty() ? " " : inner) + std::string(mark);
        }
        return text;
    }

    std::string quote(cmark_node* node) {
        const auto inner = children_of(node);
        return marks_.empty() ? "{quote}\n" + inner + "\n{quote}" : inner;
    }

    std::string table(cmark_node* node) {
        std::string text;
        for (auto* line = cmark_node_first_child(node); line != nullptr; line = cmark_node_next(line))
            text += (text.empty() ? "" : "\n") + text_of(line);
        return text;
    }

    /// What GitHub's dialect adds: known by name only.
    std::string extension(cmark_node* node) {
        const auto type = std::string_view(cmark_node_get_type_string(node));
        if (type == "strikethrough") return wrapped("-", node);
        if (type == "table") return table(node);
        if (type == "table_header") return row(node, "||");
        if (type == "table_row") return row(node, "|");
        return children_of(node);
    }

    std::string heading(cmark_node* node) {
        return "h" + std::to_string(cmark_node_get_heading_level(node)) + ". " +
               replaced(children_of(node), "\n", " ");
    }

    std::string text_of(cmark_node* node) {
        const auto literal = text_or_empty(cmark_node_get_literal(node));
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_SOFTBREAK:
            case CMARK_NODE_LINEBREAK:
                return "\n";
            case CMARK_NODE_CODE:
                return "{{" + escaped(literal) + "}}";
            case CMARK_NODE_CODE_BLOCK:
                return fenced(literal);
            case CMARK_NODE_EMPH:
                return wrapped("_", node);
            case CMARK_NODE_STRONG:
                return wrapped("*", node);
            case CMARK_NODE_HEADING:
                return heading(node);
            case CMARK_NODE_LINK:
                return link(node);
            case CMARK_NODE_IMAGE:
                return escaped(plain_text(node));
            case CMARK_NODE_LIST:
                return list(node);
            case CMARK_NODE_BLOCK_QUOTE:
                return quote(node);
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
    std::string marks_;  ///< of the lists that stand around
};

}  // namespace

std::string wiki_markup(std::string_view markdown) {
    const MarkdownTree tree(markdown);
    return Writer().children_of(tree.root());
}

}  // namespace epilogue
