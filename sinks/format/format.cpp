#include "sinks/format/format.h"

#include <algorithm>
#include <utility>

#include "base/code_point.h"
#include "base/graphemes.h"
#include "base/text.h"
#include "sinks/format/markdown.h"
#include "sinks/format/neutralise.h"
#include "sinks/format/strip_unsafe.h"

namespace epilogue {
namespace {

constexpr std::string_view truncation = "\n\n… (truncated)";

/// The first `count` code points of valid UTF-8.
std::string_view first_characters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    while (count > 0 && end < text.size()) {
        end += first_code_point(text.substr(end)).bytes.size();
        --count;
    }
    return text.substr(0, end);
}

/// `text` with the fence closed that it leaves open once it is neutralised.
std::string closed(std::string text) {
    constexpr int enough = 4;  ///< a line more may be read otherwise than the lines before it were alone
    for (int i = 0; i < enough; ++i) {
        const auto fence = closing_fence(neutralise(text));
        if (fence.empty()) break;
        if (!text.ends_with('\n')) text += '\n';
        text += fence;
    }
    return text;
}

/// A web address that ends where it should as the target of a Markdown link, or nothing for any other kind.
std::string link_target(std::string_view url) {
    constexpr std::string_view kept =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]!$&'*+,;=%";
    constexpr std::size_t max_bytes = 2000;
    if (!url.starts_with("https://") && !url.starts_with("http://")) return {};
    std::string target;
    for (const char c : url) {
        if (kept.find(c) != std::string_view::npos)
            target += c;
        else
            target += "%" + to_hex(std::string_view(&c, 1));
    }
    return target.size() > max_bytes ? std::string{} : target;
}

/// What a link is called: letters and blanks, or in English.
std::string link_text(std::string_view text) {
    constexpr std::size_t longest = 100;
    const bool is_plain = !text.empty() && text.size() <= longest &&
                          text.find_first_of("[]()<>`\\!&*_@#\n") == std::string_view::npos;
    return is_plain ? std::string(text) : "View the conversation";
}

/// truncate() of what strip_unsafe() has left.
std::string truncated(const std::string& text, std::size_t max_characters) {
    if (code_points(text) <= max_characters) {
        auto whole = neutralise(closed(text));
        if (code_points(whole) <= max_characters) return whole;
    }
    // What neutralises and closes takes room too, and shrinks with the text: give way until all fit.
    std::size_t keep = max_characters - code_points(truncation);
    while (true) {
        const auto kept = whole_words(text, first_characters(text, keep).size());
        auto head = closed(std::string(kept)) + std::string(truncation);
        head = neutralise(closed(std::move(head)));
        const std::size_t size = code_points(head);
        if (size <= max_characters) return head;
        keep = std::min(code_points(kept) - 1, keep * max_characters / size);
    }
}

/// The same; empty when nothing can be seen of it.
std::string part(const std::string& text, std::size_t max_characters) {
    return trimmed(text).empty() ? std::string{} : truncated(text, max_characters);
}

}  // namespace

std::string sanitise(std::string_view text) {
    return neutralise(strip_unsafe(text));
}

std::string truncate(std::string_view markdown, std::size_t max_characters) {
    return truncated(strip_unsafe(markdown), max_characters);
}

std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters) {
    constexpr std::size_t max_headline = 1000;
    const std::size_t max_facts = max_characters / 4;
    const auto headline = part(strip_unsafe(replaced(summary.headline, "\n", " ")), max_headline);
    const auto facts = part(strip_unsafe(summary.facts), max_facts);
    const auto words = strip_unsafe(summary.final_message);
    const auto target = link_target(summary.link);
    const auto link = target.empty() ? target : "[" + link_text(summary.link_text) + "](" + target + ")";

    const std::size_t blank_lines = 2 * 4;
    std::size_t room = max_characters - blank_lines - code_points(headline) - code_points(facts) -
                       link.size() - marker.size();
    while (true) {
        std::string post;
        for (const auto& piece : {headline, part(words, room), facts, link})
            if (!piece.empty()) post += (post.empty() ? "" : "\n\n") + piece;
        // Once more as a whole: what the words define must not reach into the rest.
        post = neutralise(post);
        if (!marker.empty()) post += (post.empty() ? "" : "\n\n") + std::string(marker);
        const std::size_t size = code_points(post);
        if (size <= max_characters) return post;
        room -= size - max_characters;
    }
}

}  // namespace epilogue
