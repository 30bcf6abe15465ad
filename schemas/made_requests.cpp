#include "schemas/made_requests.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>

#include "base/text.h"
#include "schemas/links.h"
#include "schemas/shell_command.h"

namespace epilogue {
namespace {

using Words = ShellWords;

template <class Names>
bool is_among(std::string_view word, const Names& names) {
    return std::ranges::find(names, word) != std::ranges::end(names);
}

/// The commands of a chain or a pipe.
std::vector<std::string> parts_of(std::string_view command) {
    std::string parts(command);
    for (const std::string_view separator : {"&&", "||", "|", "\n"}) parts = replaced(parts, separator, ";");
    return split(parts, ';');
}

bool begins(const Words& words, std::initializer_list<std::string_view> expected) {
    return words.size() >= expected.size() && std::equal(expected.begin(), expected.end(), words.begin());
}

bool opens(const Words& bare) {
    return begins(bare, {"gh", "pr", "create"}) || begins(bare, {"gh", "pr", "new"}) ||
           begins(bare, {"glab", "mr", "create"}) || begins(bare, {"glab", "mr", "new"}) ||
           begins(bare, {"hub", "pull-request"});
}

/// Whether the command writes to the place of an API where requests are opened.
bool posts_to_an_api(const Words& words) {
    constexpr std::array<std::string_view, 3> programs{"curl", "gh", "glab"};
    constexpr std::array<std::string_view, 14> writes{
        "POST",   "-XPOST",     "--request=POST", "--method=POST", "-d",
        "--data", "--data-raw", "--data-binary",  "--json",        "-f",
        "-F",     "--field",    "--raw-field",    "--input"};
    const auto is_place = [](std::string_view word) {
        const auto path = word.substr(0, word.find('?'));
        return path.ends_with("/pulls") || path.ends_with("/merge_requests");
    };
    const auto has = [&](const auto& names) {
        return std::ranges::any_of(words, [&](std::string_view word) { return is_among(word, names); });
    };
    return has(programs) && has(writes) && std::ranges::any_of(words, is_place);
}

void add_once(std::vector<std::string>& links, std::vector<std::string> more) {
    for (std::string& link : more)
        if (!is_among(link, links)) links.push_back(std::move(link));
}

/// The link that a platform's JSON names as the request's own: its text may name others.
std::vector<std::string> own_link_in(std::string_view json) {
    for (const std::string_view name : {"\"html_url\"", "\"web_url\""})
        for (std::size_t at = json.find(name); at != std::string_view::npos; at = json.find(name, at + 1)) {
            const auto value = json.substr(at + name.size(), max_link_bytes);
            const auto begin = value.find_first_not_of(" \t\n\r:\"");
            if (begin == std::string_view::npos) continue;
            const auto end = std::min(value.find('"', begin), value.size());
            auto links = request_links(value.substr(begin, end - begin));
            if (!links.empty()) return links;
        }
    return {};
}

}  // namespace

std::vector<std::string> requests_made_by_command(std::string_view command, std::string_view output) {
    bool is_opener = false;
    bool is_push = false;
    for (const std::string& part : parts_of(command)) {
        const Words words = bare_words(words_of(part));
        is_opener = is_opener || opens(words);
        is_push = is_push || begins(words, {"git", "push"});
    }
    std::vector<std::string> made;
    if (posts_to_an_api(words_of(command))) add_once(made, own_link_in(output));
    if (!is_opener && !is_push) return made;
    for (const std::string& line : split(output, '\n')) {
        const bool is_alone = line.starts_with("https://") && line.find(' ') == std::string::npos;
        if ((is_opener && is_alone) || (is_push && line.starts_with("remote:")))
            add_once(made, request_links(line));
    }
    return made;
}

std::vector<std::string> requests_made_by_tool(std::string_view tool, std::string_view answer) {
    constexpr std::array<std::string_view, 5> openers{"create_pr", "create_pull_request", "create_mr",
                                                      "create_merge_request", "create_bitbucket_pr"};
    const std::string name = replaced(lowered(tool), "-", "_");
    const bool is_opener = std::ranges::any_of(openers, [&](std::string_view opener) {
        if (!name.ends_with(opener)) return false;
        return name.size() == opener.size() ||
               std::isalnum(static_cast<unsigned char>(name[name.size() - opener.size() - 1])) == 0;
    });
    if (!is_opener) return {};
    auto links = own_link_in(answer);
    if (links.empty()) links = request_links(answer);
    if (links.size() > 1) links.resize(1);
    return links;
}

}  // namespace epilogue
