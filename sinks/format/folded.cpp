#include "sinks/format/folded.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "sinks/format/marker.h"

namespace epilogue {
namespace {

// Comments: no text of others has any (without_comments), so none of it can end or begin a part.
constexpr std::string_view earlier = "<!-- epilogue:earlier -->";
constexpr std::string_view next = "<!-- epilogue:next -->";
constexpr std::string_view opening = "\n<details><summary>Earlier</summary>\n\n";
constexpr std::string_view closing = "\n\n</details>";

/// `body` in two: the text, and the marker that is its last line.
std::pair<std::string_view, std::string_view> split_marker(std::string_view body) {
    const auto marker = marker_of(body);
    return {trimmed(body.substr(0, body.size() - marker.size())), marker};
}

/// The posts that a message shows, newest first, each with its marker.
std::vector<std::string> posts_in(std::string_view shown) {
    const auto [text, marker] = split_marker(shown);
    if (marker.empty()) return {};
    const auto fold = std::min(text.find(earlier), text.size());
    std::vector<std::string> posts{fmt::format("{}\n\n{}", trimmed(text.substr(0, fold)), marker)};
    auto below = text.substr(fold);
    const auto begin = below.find(opening);
    if (begin == std::string_view::npos) return posts;
    below = below.substr(begin + opening.size());
    below = below.substr(0, below.rfind(closing));
    while (!below.empty()) {
        const auto end = std::min(below.find(next), below.size());
        posts.emplace_back(trimmed(below.substr(0, end)));
        below = below.substr(std::min(end + next.size(), below.size()));
    }
    return posts;
}

/// Whether the post's marker is that of one of these deliveries.
bool is_one_of(std::string_view post, const std::vector<DeliveryId>& deliveries) {
    const auto marker = marker_of(post);
    return std::ranges::any_of(deliveries, [&](const DeliveryId& id) {
        return marker.find(fmt::format(" id={} ", id)) != std::string_view::npos;
    });
}

std::string put_together(const std::vector<std::string>& posts) {
    if (posts.size() == 1) return posts.front();
    const auto [text, marker] = split_marker(posts.front());
    return fmt::format("{}\n\n{}{}{}{}\n\n{}", text, earlier, opening,
                       fmt::join(posts.begin() + 1, posts.end(), fmt::format("\n\n{}\n\n", next)), closing,
                       marker);
}

}  // namespace

std::string folded(std::string_view post, std::string_view shown, const std::vector<DeliveryId>& newer,
                   std::size_t max_characters) {
    auto posts = posts_in(replaced(shown, "\r\n", "\n"));
    const auto above =
        std::find_if(posts.rbegin(), posts.rend(), [&](const auto& one) { return is_one_of(one, newer); });
    posts.insert(above.base(), std::string(post));
    std::string whole = put_together(posts);
    while (posts.size() > 1 && code_points(whole) > max_characters) {
        posts.pop_back();
        whole = put_together(posts);
    }
    return whole;
}

std::string notice_of(std::string_view body, std::string_view url) {
    const auto headline = body.substr(0, body.find('\n'));
    const auto link = url.empty() ? std::string() : fmt::format("\n\n[More]({})", url);
    return std::string(trimmed(fmt::format("{}{}\n\n{}", headline, link, marker_of(body))));
}

}  // namespace epilogue
