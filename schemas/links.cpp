#include "schemas/links.h"

#include <algorithm>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view scheme = "https://";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

bool is_host(char c) {
    return is_word(c) || c == '.' || c == ':';
}

bool is_path(char c) {
    return is_word(c) || c == '.' || c == '~';
}

template <class Fits>
std::string_view take(std::string_view& rest, Fits fits) {
    const auto end =
        static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), fits) - rest.begin());
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end);
    return taken;
}

/// How much of `text`, which starts with the scheme, is a link to a request; 0 when none of it.
std::size_t request_link_length(std::string_view text) {
    std::string_view rest = text.substr(0, max_link_bytes + 1).substr(scheme.size());
    if (take(rest, is_host).empty()) return 0;
    std::string_view before;
    std::string_view last;
    for (std::size_t segments = 0; rest.starts_with('/'); ++segments) {
        rest.remove_prefix(1);
        const std::string_view segment = take(rest, is_path);
        if (segment.empty()) return 0;
        const bool pull = last == "pull" && segments == 3;
        const bool merge = last == "merge_requests" && before == "-" && segments >= 4;
        if (pull || merge) {
            const auto digits = static_cast<std::size_t>(
                std::find_if_not(segment.begin(), segment.end(), is_digit) - segment.begin());
            // A full stop may end the sentence that the link stands in; any other letter makes another word.
            const bool ends = digits == segment.size() || segment[digits] == '.';
            if (digits > 0 && digits <= 18 && segment.front() != '0' && ends)
                return static_cast<std::size_t>(segment.data() - text.data()) + digits;
        }
        before = last;
        last = segment;
    }
    return 0;
}

std::string canonical(std::string_view link) {
    const std::size_t path = link.find('/', scheme.size());
    return lowered(link.substr(0, path)) + std::string(link.substr(path));
}

}  // namespace

std::vector<std::string> request_links(std::string_view text) {
    std::vector<std::string> links;
    for (std::size_t at = text.find(scheme); at != std::string_view::npos && links.size() < max_links;
         at = text.find(scheme, at + scheme.size())) {
        const std::size_t length = request_link_length(text.substr(at));
        if (length == 0 || length > max_link_bytes) continue;
        std::string link = canonical(text.substr(at, length));
        if (std::find(links.begin(), links.end(), link) == links.end()) links.push_back(std::move(link));
    }
    return links;
}

}  // namespace epilogue
