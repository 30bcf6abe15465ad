#include "sinks/format/format.h"

#include <algorithm>
#include <utility>

#include "base/code_point.h"
#include "base/graphemes.h"
#include "base/secret_rules.h"
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

bool may_have_fence(std::string_view text) {
    return text.find("```") != std::string_view::npos || text.find("~~~") != std::string_view::npos;
}

struct Closed {
    std::string text;         ///< with the fence closed that it leaves open once it is neutralised
    std::string neutralised;  ///< the same, neutralised
};

Closed closed(std::string text) {
    constexpr int enough = 4;  ///< a line more may be read otherwise than the lines before it were alone
    std::string neutralised = neutralise(text);
    for (int i = 0; i < enough && may_have_fence(text); ++i) {
        const auto fence = closing_fence(neutralised);
        if (fence.empty()) break;
        if (!text.ends_with('\n')) text += '\n';
        text += fence;
        neutralised = neutralise(text);
    }
    return {std::move(text), std::move(neutralised)};
}

/// What strip_unsafe() leaves of `text`, or, of a long one, at least as much of that as decides about its
/// first `max_characters`, and more than those: what a post has no room for costs no time.
std::string stripped_beginning(std::string_view text, std::size_t max_characters) {
    const auto read = first_characters(text, 2 * max_characters + 2 * longest_secret);
    const bool ends_in_comment = read.rfind("<!--") + 1 > read.rfind("-->") + 1;  // npos + 1 is 0
    if (read.size() == text.size() || ends_in_comment) return strip_unsafe(text);
    auto stripped = strip_unsafe(read);
    // Its end may be half of a secret, which is not known as one.
    const auto sure = stripped.size() - std::min(stripped.size(), longest_secret);
    stripped.resize(prefix_of(stripped, sure).size());
    return code_points(stripped) > max_characters ? stripped : strip_unsafe(text);
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
        auto whole = closed(text).neutralised;
        if (code_points(whole) <= max_characters) return whole;
    }
    // What neutralises and closes takes room too, and shrinks with the text: give way until all fit.
    std::size_t keep = max_characters - code_points(truncation);
    while (true) {
        const auto kept = whole_words(text, first_characters(text, keep).size());
        std::string shown(kept);
        if (may_have_fence(shown)) shown = closed(std::move(shown)).text;
        auto head = closed(shown.append(truncation)).neutralised;
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
    return truncated(stripped_beginning(markdown, max_characters), max_characters);
}

std::string markdown_post(const Summary& summary, std::string_view marker, std::size_t max_characters) {
    constexpr std::size_t max_headline = 1000;
    const std::size_t max_facts = max_characters / 4;
    const auto headline = part(strip_unsafe(replaced(summary.headline, "\n", " ")), max_headline);
    const auto facts = part(strip_unsafe(summary.facts), max_facts);
    const auto words = stripped_beginning(summary.final_message, max_characters);
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
