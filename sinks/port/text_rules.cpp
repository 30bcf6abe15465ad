#include "sinks/port/text_rules.h"

#include <algorithm>

namespace epilogue {
namespace {

constexpr std::size_t max_segment_bytes = 100;  // GitHub's own limit for a repository's name
constexpr std::size_t max_issue_key_bytes = 100;
constexpr std::size_t max_site_name_bytes = 200;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_segment(std::string_view text) {
    return !text.empty() && text.size() <= max_segment_bytes && text != "." && text != ".." &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool is_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_letter_or_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_issue_key(std::string_view text) {
    const std::size_t dash = text.rfind('-');
    return dash != std::string_view::npos && dash > 0 && text.size() <= max_issue_key_bytes &&
           is_digits(text.substr(dash + 1)) &&
           std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(dash),
                       [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_site_name(std::string_view text) {
    return !text.empty() && text.size() <= max_site_name_bytes &&
           std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '"' || c == '\\';
           });
}

std::size_t path_segments(std::string_view path) {
    for (std::size_t count = 1;; ++count) {
        const std::size_t slash = path.find('/');
        if (!is_segment(path.substr(0, slash))) return 0;
        if (slash == std::string_view::npos) return count;
        path.remove_prefix(slash + 1);
    }
}

}  // namespace epilogue
