#include "sinks/email/mail_body.h"

#include <algorithm>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <fmt/format.h>

#include "base/text.h"
#include "sinks/format/markdown_tree.h"

namespace epilogue {
namespace {

/// Deeper nesting is an attack: recursion must not use up the thread's stack.
constexpr int deepest = 50;

std::string_view type_of(cmark_node* node) {
    return cmark_node_get_type_string(node);
}

std::string_view box_of(cmark_node* item) {
    if (type_of(item) != "tasklist") return "";
    return cmark_gfm_extensions_get_tasklist_item_checked(item) ? "☑ " : "☐ ";
}

/// An address of the web, in signs that mean nothing in HTML.
bool is_web(std::string_view url) {
    return (url.starts_with("https://") || url.starts_with("http://")) &&
           std::all_of(url.begin(), url.end(), [](char c) {
               return c > ' ' && c < '\x7f' && std::string_view("\"'<>\\`").find(c) == std::string_view::npos;
           });
}

std::string escaped(std::string_view text) {
    auto safe = replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
    return replaced(safe, "\"", "&quot;");
}

class HtmlWriter {
  public:
    std::string children_of(cmark_node* node) {
        if (depth_ == deepest) return escaped(plain_text(node));
        ++depth_;
        std::string text;
        for (auto* child = cmark_node_first_child(node); child != nullptr; child = cmark_node_next(child))
            text += text_of(child);
        --depth_;
        return text;
    }

  private:
    std::string in(std::string_view tag, std::string_view inner, std::string_view end = "") {
        return fmt::format("<{0}>{1}</{0}>{2}", tag, inner, end);
    }

    std::string link(cmark_node* node) {
        const auto url = text_or_empty(cmark_node_get_url(node));
        const auto text = escaped(plain_text(node));
        if (!is_web(url)) return text;
        return fmt::format("<a href=\"{0}\">{1}</a>", escaped(url), text.empty() ? escaped(url) : text);
    }

    /// A tight item's paragraph is its text.
    std::string paragraph(cmark_node* node) {
        auto* const item = cmark_node_parent(node);
        auto* const list = item == nullptr ? nullptr : cmark_node_parent(item);
        const bool is_tight =
            list != nullptr && type_of(list) == "list" && cmark_node_get_list_tight(list) != 0;
        return is_tight ? children_of(node) : in("p", children_of(node), "\n");
    }

    /// What GitHub's dialect adds: known by name only.
    std::string extension(cmark_node* node) {
        const auto type = type_of(node);
        if (type == "strikethrough") return in("del", children_of(node));
        if (type == "table") return in("table", children_of(node), "\n");
        if (type == "table_header" || type == "table_row") return in("tr", children_of(node), "\n");
        if (type == "table_cell")
            return in(type_of(cmark_node_parent(node)) == "table_header" ? "th" : "td", children_of(node));
        return children_of(node);
    }

    std::string text_of(cmark_node* node) {
        const auto literal = text_or_empty(cmark_node_get_literal(node));
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_SOFTBREAK:
                return "\n";
            case CMARK_NODE_LINEBREAK:
                return "<br>\n";
            case CMARK_NODE_CODE:
                return in("code", escaped(literal));
            case CMARK_NODE_CODE_BLOCK:
                return in("pre", escaped(literal), "\n");
            case CMARK_NODE_EMPH:
                return in("em", children_of(node));
            case CMARK_NODE_STRONG:
                return in("strong", children_of(node));
            case CMARK_NODE_HEADING:
                return in(fmt::format("h{}", cmark_node_get_heading_level(node)), children_of(node), "\n");
            case CMARK_NODE_LINK:
                return link(node);
            case CMARK_NODE_IMAGE:
                return escaped(plain_text(node));
            case CMARK_NODE_LIST:
                return in(cmark_node_get_list_type(node) == CMARK_ORDERED_LIST ? "ol" : "ul",
                          children_of(node), "\n");
            case CMARK_NODE_ITEM:
                return in("li", children_of(node), "\n");
            case CMARK_NODE_BLOCK_QUOTE:
                return in("blockquote", children_of(node), "\n");
            case CMARK_NODE_THEMATIC_BREAK:
                return "<hr>\n";
            case CMARK_NODE_PARAGRAPH:
                return paragraph(node);
            case CMARK_NODE_TEXT:
            case CMARK_NODE_HTML_BLOCK:
            case CMARK_NODE_HTML_INLINE:
                return escaped(literal);
            default:
                if (type_of(node) == "tasklist")
                    return in("li", std::string(box_of(node)) + children_of(node), "\n");
                return extension(node);
        }
    }

    int depth_ = 0;
};

/// Each line of `text` behind `mark`, the first one behind `first`.
std::string behind(std::string_view first, std::string_view mark, std::string_view text) {
    return std::string(first) + replaced(text, "\n", "\n" + std::string(mark));
}

class TextWriter {
  public:
    std::string children_of(cmark_node* node) {
        if (depth_ == deepest) return plain_text(node);
        ++depth_;
        const bool is_tight = type_of(node) == "item" || type_of(node) == "tasklist" ||
                              (type_of(node) == "list" && cmark_node_get_list_tight(node) != 0);
        std::string text;
        for (auto* child = cmark_node_first_child(node); child != nullptr; child = cmark_node_next(child)) {
            const auto part = text_of(child);
            if (!text.empty() && !is_inline(child) && !part.empty()) text += is_tight ? "\n" : "\n\n";
            text += part;
        }
        --depth_;
        return text;
    }

  private:
    std::string link(cmark_node* node) {
        const auto url = text_or_empty(cmark_node_get_url(node));
        const auto text = plain_text(node);
        if (!is_web(url) || text == url) return text;
        return fmt::format("{} <{}>", text, url);
    }

    std::string item(cmark_node* node) {
        auto* const list = cmark_node_parent(node);
        std::string mark = "- ";
        if (list != nullptr && cmark_node_get_list_type(list) == CMARK_ORDERED_LIST) {
            int number = cmark_node_get_list_start(list);
            for (auto* each = cmark_node_previous(node); each != nullptr; each = cmark_node_previous(each))
                ++number;
            mark = fmt::format("{}. ", number);
        }
        return behind(mark + std::string(box_of(node)), "  ", children_of(node));
    }

    std::string row(cmark_node* node) {
        std::string text;
        for (auto* cell = cmark_node_first_child(node); cell != nullptr; cell = cmark_node_next(cell))
            text += (text.empty() ? "" : " | ") + replaced(children_of(cell), "\n", " ");
        return text;
    }

    std::string table(cmark_node* node) {
        std::string text;
        for (auto* line = cmark_node_first_child(node); line != nullptr; line = cmark_node_next(line))
            text += (text.empty() ? "" : "\n") + row(line);
        return text;
    }

    static std::string code(std::string_view literal) {
        while (literal.ends_with('\n')) literal.remove_suffix(1);
        return behind("    ", "    ", literal);
    }

    std::string text_of(cmark_node* node) {
        const auto literal = text_or_empty(cmark_node_get_literal(node));
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_SOFTBREAK:
            case CMARK_NODE_LINEBREAK:
                return "\n";
            case CMARK_NODE_CODE_BLOCK:
                return code(literal);
            case CMARK_NODE_LINK:
                return link(node);
            case CMARK_NODE_IMAGE:
                return plain_text(node);
            case CMARK_NODE_ITEM:
                return item(node);
            case CMARK_NODE_BLOCK_QUOTE:
                return behind("> ", "> ", children_of(node));
            case CMARK_NODE_THEMATIC_BREAK:
                return "———";
            case CMARK_NODE_TEXT:
            case CMARK_NODE_CODE:
            case CMARK_NODE_HTML_BLOCK:
            case CMARK_NODE_HTML_INLINE:
                return std::string(literal);
            default:
                if (type_of(node) == "tasklist") return item(node);
                return type_of(node) == "table" ? table(node) : children_of(node);
        }
    }

    int depth_ = 0;
};

}  // namespace

MailBody mail_body(std::string_view markdown) {
    const MarkdownTree tree(markdown);
    return {.text = TextWriter().children_of(tree.root()) + "\n",
            .html = fmt::format("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n{}"
                                "</body></html>\n",
                                HtmlWriter().children_of(tree.root()))};
}

}  // namespace epilogue
