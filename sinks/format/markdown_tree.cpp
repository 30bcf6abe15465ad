#include "sinks/format/markdown_tree.h"

#include <mutex>

#include <cmark-gfm.h>

#include "sinks/format/markdown_parser.h"

namespace epilogue {
namespace {

/// cmark-gfm keeps its special characters in tables of the process while it parses.
std::mutex parsing;

void each_from(cmark_node* root, const std::function<void(cmark_node*, bool)>& visit) {
    cmark_iter* const iterator = cmark_iter_new(root);
    while (true) {
        const auto event = cmark_iter_next(iterator);
        if (event == CMARK_EVENT_DONE) break;
        visit(cmark_iter_get_node(iterator), event == CMARK_EVENT_ENTER);
    }
    cmark_iter_free(iterator);
}

}  // namespace

MarkdownTree::MarkdownTree(std::string_view markdown) {
    const std::lock_guard lock(parsing);
    cmark_parser* const parser = new_markdown_parser(CMARK_OPT_DEFAULT);
    cmark_parser_feed(parser, markdown.data(), markdown.size());
    root_ = cmark_parser_finish(parser);
    cmark_parser_free(parser);
}

MarkdownTree::~MarkdownTree() {
    cmark_node_free(root_);
}

void MarkdownTree::each(const std::function<void(cmark_node*, bool)>& visit) const {
    each_from(root_, visit);
}

std::string_view text_or_empty(const char* text) {
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

bool is_inline(cmark_node* node) {
    return (static_cast<int>(cmark_node_get_type(node)) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_INLINE;
}

std::string plain_text(cmark_node* node) {
    std::string text;
    each_from(node, [&](cmark_node* inner, bool entering) {
        if (!entering) return;
        const auto type = cmark_node_get_type(inner);
        if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
            text += ' ';
        else
            text += text_or_empty(cmark_node_get_literal(inner));
    });
    return text;
}

}  // namespace epilogue
