// A document as cmark-gfm's tree, with its lifetime. For the files that read Markdown; knows no platform.
#pragma once

#include <functional>
#include <string>
#include <string_view>

struct cmark_node;

namespace epilogue {

/// GitHub's dialect: tables, bare addresses as links, strike-through, tasks.
class MarkdownTree {
  public:
    /// Parses `markdown`, valid UTF-8. Thread-safe.
    explicit MarkdownTree(std::string_view markdown);
    ~MarkdownTree();
    MarkdownTree(const MarkdownTree&) = delete;
    MarkdownTree& operator=(const MarkdownTree&) = delete;

    /// The document node, never null.
    cmark_node* root() const { return root_; }

    /// Calls `visit` for each node in order, on the way in (true) and, if it can have children, on the way
    /// out.
    void each(const std::function<void(cmark_node*, bool entering)>& visit) const;

  private:
    cmark_node* root_;
};

/// The text, or "" for the null that cmark gives where there is none.
std::string_view text_or_empty(const char* text);

/// True for what stands in a line, false for blocks.
bool is_inline(cmark_node* node);

/// What a reader sees of the node's inside, without marks.
std::string plain_text(cmark_node* node);

}  // namespace epilogue
