#include "sinks/jira/jira_target.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_url_bytes = 2000;

/// The members that name a site: ours, and those of upstream's generations.
constexpr std::array<std::string_view, 3> site_members{"site", "workspace_name", "jira_cloud_id"};

bool is_url(std::string_view text) {
    return text.size() <= max_url_bytes && (text.starts_with("https://") || text.starts_with("http://"));
}

constexpr TextRule key_rule{is_issue_key, R"(an issue's key such as "PROJ-12")"};
constexpr TextRule url_rule{is_url, "an http:// or https:// URL"};
constexpr TextRule site_rule{is_site_name, "the name of a site"};

JiraTarget read(const ProcessorReader& json) {
    JiraTarget target{json.text("issue_key", key_rule), json.optional_text("base_api_url", url_rule)};
    for (const auto member : site_members)
        if (target.site.empty()) target.site = json.optional_text(member, site_rule);
    return target;
}

void write(const ProcessorWriter& json, const JiraTarget& target) {
    json.text("issue_key", target.issue_key);
    json.optional_text("base_api_url", target.base_url);
    const auto* member = std::find_if(site_members.begin(), site_members.end(), [&](std::string_view name) {
        return !json.member(name).string_or_empty().empty();
    });
    json.optional_text(member == site_members.end() ? site_members.front() : *member, target.site);
}

}  // namespace

std::string JiraTarget::describe() const {
    // A site that has a URL of its own is known by its host.
    const auto host = base_url.substr(std::min(base_url.size(), base_url.find("://") + 3));
    const auto named = base_url.empty() ? site : host.substr(0, host.find_first_of("/?#"));
    return (named.empty() ? "" : lowered(named) + "/") + issue_key;
}

std::vector<ProcessorShape> jira_shapes() {
    std::vector<ProcessorShape> shapes;
    for (const char* type :
         {"jira", "JiraCallbackProcessor", "JiraDcCallbackProcessor", "JiraV1CallbackProcessor"})
        shapes.push_back(shape_of(type, "", read, write));
    return shapes;
}

std::vector<WantedPart> jira_members() {
    std::vector<WantedPart> members{{"issue_key"}, {"base_api_url"}};
    for (const auto member : site_members) members.push_back({member});
    return members;
}

}  // namespace epilogue
