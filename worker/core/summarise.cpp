#include "worker/core/summarise.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::size_t shown_files = 8;
constexpr std::size_t shown_tests = 5;
constexpr std::size_t shown_links = 5;
constexpr std::size_t shown_text_bytes = 120;

/// Instead of a timeout's.
constexpr std::string_view headline_of_gap = "**Outcome not known**: a part of the log was lost";

std::string_view headline_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::finished:
            return "**Finished**";
        case Verdict::awaiting_user_input:
            return "**Waiting for you**";
        case Verdict::error:
            return "**Ended with an error**";
        case Verdict::stuck:
            return "**Got stuck**";
        case Verdict::rejected:
            return "**Rejected**";
        case Verdict::stopped:
            return "**Stopped**";
        case Verdict::timeout:
            return "**No sign of life**";
    }
    return "";
}

/// Text as a Markdown code span on one line.
std::string code(std::string_view text) {
    const std::string line = replaced(replaced(text, "`", "'"), "\n", " ⏎ ");
    const std::string_view shown = prefix_of(line, shown_text_bytes);
    return fmt::format("`{}{}`", shown, shown.size() < line.size() ? "…" : "");
}

/// An error's code as it may stand in public: V1's class name, V0's reason id, or the name before the colon
/// of a longer text. The rest is exception text, which never goes into a thread; a text that starts otherwise
/// has none.
std::string public_code(std::string_view reason) {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.";
    const std::string_view name = reason.substr(0, reason.find_first_not_of(allowed));
    const bool is_name = name.size() == reason.size() || reason[name.size()] == ':';
    return is_name ? std::string(prefix_of(name, shown_text_bytes)) : "";
}

std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "a, b and 3 more" of the entries' code spans.
std::string listed(const std::vector<std::string>& entries, std::size_t shown) {
    std::string line;
    for (std::size_t i = 0; i < std::min(shown, entries.size()); ++i)
        line += (i ? ", " : "") + code(entries[i]);
    if (entries.size() > shown) line += fmt::format(" and {} more", entries.size() - shown);
    return line;
}

std::string result_of(const Digest::Command& command) {
    if (!command.exit_code) return "no result seen";
    return *command.exit_code == 0 ? "passed" : fmt::format("failed (exit code {})", *command.exit_code);
}

std::string facts_of(const Digest& digest) {
    std::string facts;
    if (digest.goal)
        facts += fmt::format("- Goal: {} after {} of {}\n", digest.goal->is_capped ? "capped" : "interrupted",
                             digest.goal->rounds,
                             plural(static_cast<std::size_t>(digest.goal->max_rounds), "round"));
    if (!digest.files.empty()) {
        facts += fmt::format("- Changed {}: {}\n", plural(digest.files.size(), "file"),
                             listed(digest.files, shown_files));
    }
    if (!digest.commands.empty()) {
        const auto failed = std::count_if(digest.commands.begin(), digest.commands.end(),
                                          [](const auto& c) { return c.exit_code.value_or(0) != 0; });
        facts += fmt::format("- Ran {}{}{}\n", plural(digest.commands.size(), "command"),
                             digest.cut ? " or more" : "",
                             failed ? fmt::format(", {} failed", failed) : std::string());
    }
    std::size_t tests = 0;
    for (const auto& command : digest.commands)
        if (command.is_test && ++tests <= shown_tests)
            facts += fmt::format("- Tests: {} {}\n", code(command.text), result_of(command));
    for (std::size_t i = 0; i < std::min(shown_links, digest.links.size()); ++i)
        facts += fmt::format("- Pull request: {}\n", digest.links[i]);
    if (!digest.errors.empty())
        facts += fmt::format("- Met {} on the way\n", plural(digest.errors.size(), "error"));
    if (!facts.empty()) facts.pop_back();
    return facts;
}

}  // namespace

MadeSummary summarise(const TurnEnd& turn, const ConversationId& conversation_id, const SummaryRules& rules) {
    MadeSummary made;
    made.summary.headline = turn.may_lie_in_gap ? headline_of_gap : headline_of(turn.verdict);
    if (turn.verdict == Verdict::error && turn.reason) {
        const std::string reason = public_code(turn.reason->code);
        if (!reason.empty()) made.summary.headline += ": `" + reason + "`";
    }
    for (const SummarySource& source : rules.sources) {
        made.may_ask = made.may_ask || (source.may_ask && source.may_ask(turn));
        auto words = source.words_of(turn);
        if (!words) continue;
        made.source = source.name;
        made.summary.final_message = std::move(*words);
        break;
    }
    made.summary.facts = facts_of(turn.digest);
    if (!rules.web_url.empty())
        made.summary.link = replaced(rules.web_url, "{conversation_id}", conversation_id);
    return made;
}

}  // namespace epilogue
