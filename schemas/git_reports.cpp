#include "schemas/git_reports.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "schemas/shell_command.h"

namespace epilogue {
namespace {

constexpr std::size_t max_branch_bytes = 200;

bool is_hash(std::string_view text) {
    constexpr std::size_t shortest = 4;
    constexpr std::size_t longest = 64;
    return text.size() >= shortest && text.size() <= longest &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_branch(std::string_view name) {
    return !name.empty() && name.size() <= max_branch_bytes && name != "HEAD" &&
           name.find_first_of(" ~^:?*[\\`") == std::string_view::npos;
}

/// "[fix/clock 1a2b3c4] message", "[main (root-commit) 1a2b3c4] message".
std::optional<GitReport> commit_in(std::string_view line) {
    const auto end = line.find(']');
    if (!line.starts_with('[') || end == std::string_view::npos) return std::nullopt;
    const auto words = words_of(line.substr(1, end - 1));
    if (words.size() < 2 || !is_branch(words.front()) || !is_hash(words.back())) return std::nullopt;
    const bool is_known = words.size() == 2 || (words.size() == 3 && words[1] == "root-commit");
    if (!is_known) return std::nullopt;  // "detached HEAD 1a2b3c4"
    return GitReport{std::string(words.front()), std::string(words.back()), false};
}

/// "   1a2b3c4..5d6e7f8  here -> there", " + 1a2b3c4...5d6e7f8 here -> there (forced update)",
/// " * [new branch]      here -> there".
std::optional<GitReport> push_in(std::string_view line) {
    const auto arrow = line.find(" -> ");
    if (arrow == std::string_view::npos || line.starts_with("remote:")) return std::nullopt;
    auto there = trimmed(line.substr(arrow + 4));
    there = there.substr(0, there.find(' '));
    if (!is_branch(there)) return std::nullopt;
    const auto before = trimmed(line.substr(0, arrow));
    if (before.starts_with("* [new branch]")) return GitReport{std::string(there), "", true};
    const auto words = words_of(before);
    const auto range =
        std::ranges::find_if(words, [](auto word) { return word.find("..") != std::string::npos; });
    if (range == words.end()) return std::nullopt;
    const auto hash = range->substr(range->rfind('.') + 1);
    if (!is_hash(hash) || !is_hash(range->substr(0, range->find('.')))) return std::nullopt;
    return GitReport{std::string(there), std::string(hash), true};
}

}  // namespace

std::vector<GitReport> git_reports(std::string_view command, std::string_view output) {
    bool commits = false;
    bool pushes = false;
    for (const SimpleCommand& part : chain_of(command)) {
        const ShellWords words = bare_words(words_of(part.text));
        if (words.size() < 2 || words[0] != "git") continue;
        commits = commits || words[1] == "commit" || words[1] == "merge" || words[1] == "cherry-pick";
        pushes = pushes || words[1] == "push";
    }
    std::vector<GitReport> reports;
    if (!commits && !pushes) return reports;
    for (const std::string& line : split(output, '\n')) {
        auto report = commits ? commit_in(line) : std::nullopt;
        if (!report && pushes) report = push_in(line);
        if (report) reports.push_back(std::move(*report));
    }
    return reports;
}

}  // namespace epilogue
