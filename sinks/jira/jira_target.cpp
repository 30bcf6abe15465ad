#include "sinks/jira/jira_target.h"

#include <algorithm>
#include <string_view>

#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_key_bytes = 100;
constexpr std::size_t max_url_bytes = 2000;

/// It goes into URLs: a project's key, '-', and a number.
bool is_issue_key(std::string_view text) {
    const std::size_t dash = text.rfind('-');
    return dash != std::string_view::npos && dash > 0 && text.size() <= max_key_bytes &&
           is_digits(text.substr(dash + 1)) &&
           std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(dash),
                       [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_url(std::string_view text) {
    return text.size() <= max_url_bytes && (text.starts_with("https://") || text.starts_with("http://"));
}

constexpr TextRule key_rule{is_issue_key, R"(an issue's key such as "PROJ-12")"};
constexpr TextRule url_rule{is_url, "an http:// or https:// URL"};

JiraTarget read(const ProcessorReader& json) {
    return {json.text("issue_key", key_rule), json.optional_text("base_api_url", url_rule)};
}

void write(const ProcessorWriter& json, const JiraTarget& target) {
    json.text("issue_key", target.issue_key);
    json.optional_text("base_api_url", target.base_url);
}

}  // namespace

std::vector<ProcessorShape> jira_shapes() {
    std::vector<ProcessorShape> shapes;
    for (const char* type :
         {"jira", "JiraCallbackProcessor", "JiraDcCallbackProcessor", "JiraV1CallbackProcessor"})
        shapes.push_back(shape_of(type, "", read, write));
    return shapes;
}

std::vector<WantedPart> jira_members() {
    return {{"issue_key"}, {"base_api_url"}};
}

}  // namespace epilogue
