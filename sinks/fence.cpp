#include "sinks/fence.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace epilogue {
namespace {

constexpr std::size_t tab_stop = 4;
constexpr std::size_t max_indent = 3;  ///< one more makes indented code
constexpr std::size_t min_fence = 3;

/// A block quote, or a list item whose content stands `indent` columns in.
struct Container {
    bool quote = false;
    std::size_t indent = 0;
    bool empty = false;  ///< nothing stands in it yet: the next blank line ends it
};

struct Fence {
    char character = '`';
    std::size_t length = 0;
    std::size_t indent = 0;
    std::size_t depth = 0;  ///< how many containers stand around it
};

std::string with_spaces_for_tabs(std::string_view line) {
    std::string result;
    for (const char c : line) {
        if (c == '\t')
            result.append(tab_stop - result.size() % tab_stop, ' ');
        else if (c != '\r')
            result += c;
    }
    return result;
}

bool is_blank(std::string_view line) {
    return line.find_first_not_of(' ') == std::string_view::npos;
}
std::size_t indent_of(std::string_view line) {
    const auto first = line.find_first_not_of(' ');
    return first == std::string_view::npos ? line.size() : first;
}

/// Takes the container's prefix off `line`; false when the line does not continue it.
bool continues(Container& container, std::string_view& line) {
    const std::size_t indent = indent_of(line);
    if (container.quote) {
        if (indent > max_indent || indent == line.size() || line[indent] != '>') return false;
        line.remove_prefix(indent + 1);
        if (line.starts_with(' ')) line.remove_prefix(1);
        return true;
    }
    const bool blank = is_blank(line);
    if (indent < container.indent) return blank && !container.empty;
    container.empty = container.empty && blank;
    line.remove_prefix(container.indent);
    return true;
}

/// The container that `line` (indented by at most three) opens, its prefix taken off; nothing when it opens
/// none. In the middle of a paragraph only a list that starts with 1, and an item that is not empty, open
/// one.
std::optional<Container> opened(std::string_view& line, bool in_paragraph) {
    Container quote{.quote = true};
    if (auto rest = line; continues(quote, rest)) {
        line = rest;
        return quote;
    }
    const std::size_t indent = indent_of(line);
    auto rest = line.substr(indent);
    std::size_t width = 0;
    if (rest.starts_with('-') || rest.starts_with('*') || rest.starts_with('+')) {
        width = 1;
    } else {
        constexpr std::size_t max_digits = 9;
        const auto digits = rest.find_first_not_of("0123456789");
        if (digits == 0 || digits == std::string_view::npos || digits > max_digits) return std::nullopt;
        if (rest[digits] != '.' && rest[digits] != ')') return std::nullopt;
        if (in_paragraph && rest.substr(0, digits) != "1") return std::nullopt;
        width = digits + 1;
    }
    rest.remove_prefix(width);
    if (is_blank(rest)) {
        if (in_paragraph) return std::nullopt;
        line = {};
        return Container{.indent = indent + width + 1, .empty = true};
    }
    if (!rest.starts_with(' ')) return std::nullopt;
    const std::size_t spaces = indent_of(rest);
    const std::size_t padding = spaces > tab_stop ? 1 : spaces;
    line = rest.substr(padding);
    return Container{.indent = indent + width + padding};
}

/// "---", "* * *" and the like; as lists these would be read as containers.
bool is_thematic_break(std::string_view line) {
    const auto rest = line.substr(indent_of(line));
    if (rest.empty() || (rest[0] != '-' && rest[0] != '*' && rest[0] != '_')) return false;
    std::size_t count = 0;
    for (const char c : rest) {
        if (c != rest[0] && c != ' ') return false;
        count += c == rest[0] ? 1U : 0U;
    }
    return count >= 3;
}

bool is_heading(std::string_view line) {
    constexpr std::size_t max_level = 6;
    const auto rest = line.substr(indent_of(line));
    const auto level = std::min(rest.find_first_not_of('#'), rest.size());
    return level > 0 && level <= max_level && (level == rest.size() || rest[level] == ' ');
}

std::optional<Fence> fence_at(std::string_view line) {
    const std::size_t indent = indent_of(line);
    const auto rest = line.substr(indent);
    if (indent > max_indent || rest.empty() || (rest[0] != '`' && rest[0] != '~')) return std::nullopt;
    const auto end = rest.find_first_not_of(rest[0]);
    const std::size_t length = end == std::string_view::npos ? rest.size() : end;
    if (length < min_fence) return std::nullopt;
    if (rest[0] == '`' && rest.substr(length).find('`') != std::string_view::npos) return std::nullopt;
    return Fence{.character = rest[0], .length = length, .indent = indent};
}

bool closes(const Fence& fence, std::string_view line) {
    const auto found = fence_at(line);
    return found && found->character == fence.character && found->length >= fence.length &&
           is_blank(line.substr(found->indent + found->length));
}

/// Follows the lines of a document; knows of blocks only what decides where a fence opens and ends.
class Reader {
  public:
    void read(std::string_view raw) {
        const auto expanded = with_spaces_for_tabs(raw);
        std::string_view line = expanded;
        std::size_t matched = 0;
        while (matched < containers_.size() && continues(containers_[matched], line)) ++matched;

        if (fence_ && matched >= fence_->depth) {
            if (closes(*fence_, line)) fence_.reset();
            return;
        }
        fence_.reset();
        read_block(line, matched);
    }

    const std::optional<Fence>& fence() const { return fence_; }

  private:
    void read_block(std::string_view line, std::size_t matched) {
        const bool continued = in_paragraph_ && matched == containers_.size();
        std::vector<Container> found;
        while (indent_of(line) <= max_indent && !is_blank(line) && !is_thematic_break(line)) {
            const auto container = opened(line, continued && found.empty());
            if (!container) break;
            found.push_back(*container);
        }
        const bool may_start = indent_of(line) <= max_indent;
        auto fence = fence_at(line);
        const bool plain = !is_blank(line) && !fence && !is_thematic_break(line) && !is_heading(line);
        // A line of text goes on with the paragraph above even without its quote's or list's prefix.
        if (found.empty() && plain && in_paragraph_) return;

        containers_.resize(matched);
        containers_.insert(containers_.end(), found.begin(), found.end());
        in_paragraph_ = plain && may_start;
        if (!fence) return;
        fence->depth = containers_.size();
        fence_ = fence;
    }

    std::vector<Container> containers_;
    std::optional<Fence> fence_;
    bool in_paragraph_ = false;
};

}  // namespace

std::string closing_fence(std::string_view markdown) {
    Reader reader;
    while (true) {
        const auto end = markdown.find('\n');
        reader.read(markdown.substr(0, end));
        if (end == std::string_view::npos) break;
        markdown.remove_prefix(end + 1);
    }
    const auto& fence = reader.fence();
    if (!fence || fence->depth > 0) return {};
    return std::string(fence->indent, ' ') + std::string(fence->length, fence->character);
}

}  // namespace epilogue
