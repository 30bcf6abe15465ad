#include "sinks/format/marker.h"

#include <fmt/format.h>

#include "base/ids.h"

namespace epilogue {
namespace {

constexpr std::string_view marker_start = "<!-- epilogue:1 ";
constexpr std::string_view comment_start = "<!--";
constexpr std::string_view comment_end = "-->";
constexpr std::size_t mac_digits = 16;

/// Where the comment ends whose inside starts at `from`, or npos. `<!-->` and `<!--->` are whole comments.
std::size_t end_of_comment(std::string_view text, std::size_t from) {
    const auto rest = text.substr(from);
    if (rest.starts_with(">")) return from + 1;
    if (rest.starts_with("->")) return from + 2;
    const auto end = text.find(comment_end, from);
    return end == std::string_view::npos ? end : end + comment_end.size();
}

}  // namespace

std::string marker_line(std::string_view key, std::string_view delivery_id) {
    return fmt::format("{}id={} mac={} -->", marker_start, delivery_id,
                       hmac_sha256_hex(key, delivery_id).substr(0, mac_digits));
}

std::string_view marker_of(std::string_view body) {
    const auto line = body.substr(body.rfind('\n') + 1);
    return line.starts_with(marker_start) && line.ends_with(comment_end) ? line : std::string_view{};
}

std::string marker_in(std::string_view body, std::string_view key, std::string_view delivery_id) {
    const auto frozen = marker_of(body);
    if (frozen.find(fmt::format("id={} ", delivery_id)) != std::string_view::npos) return std::string(frozen);
    return marker_line(key, delivery_id);
}

bool holds_marker(std::string_view text, std::string_view marker) {
    while (true) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line == marker) return true;
        if (end == std::string_view::npos) return false;
        text.remove_prefix(end + 1);
    }
}

std::string without_comments(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    bool closable = true;  // once no end is left, every later comment is open too: keeps this linear
    for (std::size_t i = 0; i < text.size();) {
        result += text[i++];
        if (!result.ends_with(comment_start)) continue;
        result.resize(result.size() - comment_start.size());
        const auto rest = text.substr(i);
        const bool abrupt = rest.starts_with(">") || rest.starts_with("->");
        const auto end = closable || abrupt ? end_of_comment(text, i) : std::string_view::npos;
        if (end == std::string_view::npos) {
            closable = false;
            result += "&lt;!--";
        } else {
            i = end;
        }
    }
    return result;
}

}  // namespace epilogue
