#include "schemas/processor_form.h"

#include <algorithm>
#include <utility>

namespace epilogue {
namespace {

constexpr std::size_t max_part_bytes = 100;  // GitHub's own limit for a repository's name
constexpr std::size_t max_id_bytes = 64;
constexpr std::size_t max_path_bytes = 300;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter_or_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// One segment of a path: it goes into URLs, so it must not be able to leave its place there.
bool is_path_part(std::string_view part) {
    return !part.empty() && part.size() <= max_part_bytes && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

/// How many segments the path has; 0 when one of them is malformed.
std::size_t path_parts(std::string_view path) {
    for (std::size_t count = 1;; ++count) {
        const std::size_t slash = path.find('/');
        if (!is_path_part(path.substr(0, slash))) return 0;
        if (slash == std::string_view::npos) return count;
        path.remove_prefix(slash + 1);
    }
}

bool is_slack_id(std::string_view text) {
    return !text.empty() && text.size() <= max_id_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '/'; });
}

bool is_slack_time(std::string_view text) {
    const std::size_t stop = text.find('.');
    return text.size() <= max_id_bytes && stop != std::string_view::npos && stop > 0 &&
           stop + 1 < text.size() &&
           std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(stop), is_digit) &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(stop) + 1, text.end(), is_digit);
}

bool is_github_repo(std::string_view text) {
    return path_parts(text) == 2;
}

bool is_gitlab_path(std::string_view text) {
    return text.size() <= max_path_bytes && path_parts(text) >= 2;
}

bool is_discussion(std::string_view text) {
    return !text.empty() && text.size() <= max_id_bytes &&
           std::all_of(text.begin(), text.end(), is_letter_or_digit);
}

bool is_gitlab_kind(std::string_view text) {
    return text == "issue" || text == "merge_request";
}

constexpr std::string_view expected_positive = "a positive integer";

}  // namespace

const TextRule slack_id_rule{is_slack_id, R"(an id such as "C0456EFGH")"};
const TextRule slack_time_rule{is_slack_time, R"(a message's time such as "1763715600.000100")"};
const TextRule github_repo_rule{is_github_repo, R"("owner/name")"};
const TextRule gitlab_path_rule{is_gitlab_path, R"(a positive integer or "group/name")"};
const TextRule discussion_rule{is_discussion, "a discussion's id, letters and digits"};
const TextRule gitlab_kind_rule{is_gitlab_kind, R"("issue" or "merge_request")"};

ProcessorForm ProcessorForm::object(std::string_view name) const {
    if (member(name).type != JsonPart::Type::object) refuse(name, "an object");
    return ProcessorForm(member(name), complaint_, path_ + std::string(name) + ".");
}

std::string ProcessorForm::text(std::string_view name, const TextRule& rule) const {
    const auto text = member(name).string();
    if (!text || !rule.fits(*text)) refuse(name, rule.expected);
    return std::string(text.value_or(""));
}

std::string ProcessorForm::optional_text(std::string_view name, const TextRule& rule) const {
    if (!member(name).is_given() || member(name).string() == "") return "";
    return text(name, rule);
}

std::int64_t ProcessorForm::positive(std::string_view name) const {
    const auto number = member(name).integer();
    if (!number || *number < 1) refuse(name, expected_positive);
    return number.value_or(0);
}

std::optional<std::int64_t> ProcessorForm::optional_positive(std::string_view name) const {
    if (!member(name).is_given()) return std::nullopt;
    return positive(name);
}

bool ProcessorForm::flag(std::string_view name, std::optional<bool> otherwise) const {
    if (!member(name).is_given() && otherwise) return *otherwise;
    if (member(name).type != JsonPart::Type::boolean) refuse(name, "true or false");
    return member(name).is_true();
}

void ProcessorForm::refuse(std::string_view name, std::string_view expected) const {
    if (!complaint_.empty()) return;
    complaint_ = "field \"" + path_ + std::string(name) + "\": expected " + std::string(expected);
}

}  // namespace epilogue
