#include "sinks/jira/jira_sites.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sinks/port/base64.h"
#include "sinks/port/http_answer.h"

namespace epilogue {
namespace {

constexpr std::string_view cloud_api = "https://api.atlassian.com";

JiraSite tidied(JiraSite site) {
    site.token = std::string(trimmed(site.token));
    site.email = std::string(trimmed(site.email));
    return site;
}

std::vector<std::string> headers_of(const JiraSite& site, const std::string& version) {
    const std::string credential =
        site.email.empty() ? "Bearer " + site.token : "Basic " + base64_of(site.email + ":" + site.token);
    // Jira takes a post of a browser for a forged one, and ours for a browser's, unless it is told so.
    return {"Accept: application/json", "Authorization: " + credential, "X-Atlassian-Token: no-check",
            "User-Agent: epilogue/" + version};
}

std::string host_of(std::string_view url) {
    const std::string origin = origin_of(url);
    const auto slashes = origin.find("//");
    return slashes == std::string::npos ? std::string() : origin.substr(slashes + 2);
}

/// True when the address is that of the site that Atlassian calls so.
bool is_called(const std::string& api_url, const std::string& name) {
    const std::string host = host_of(api_url);
    return !name.empty() && (host == name || host == name + ".atlassian.net" ||
                             lowered(api_url) == fmt::format("{}/ex/jira/{}", cloud_api, name));
}

bool is_meant(const JiraSites::Access& access, const JiraTarget& place) {
    if (!place.base_url.empty())
        return origin_of(place.base_url) == origin_of(access.site.api_url) ||
               (!access.name.empty() && host_of(place.base_url) == access.name);
    if (place.site.empty()) return access.name.empty();
    const std::string name = lowered(place.site);
    return name == access.name || is_called(access.site.api_url, name);
}

}  // namespace

JiraSites::Access::Access(std::string called, JiraSite at, const std::string& version)
    : name(std::move(called)), site(tidied(std::move(at))), api(site.api_url, headers_of(site, version)) {}

std::string section_of(const std::string& name) {
    return name.empty() ? "[jira]" : "[jira.sites.\"" + name + "\"]";
}

std::string JiraSites::Access::page_of(const JiraTarget& place, const std::string& id,
                                       const std::string& self) const {
    if (origin_of(api.url()) == cloud_api) return self;
    return fmt::format("{}/browse/{}?focusedCommentId={}", api.url(), place.issue_key, id);
}

JiraSites::JiraSites(JiraSite usual, const std::map<std::string, JiraSite>& named,
                     const std::string& version) {
    const auto add = [&](const std::string& name, JiraSite site) {
        sites_.try_emplace(name, name, std::move(site), version);
    };
    add("", std::move(usual));
    for (const auto& [name, site] : named) add(lowered(name), site);
}

const JiraSites::Access* JiraSites::of(const JiraTarget& place) const {
    const auto exact = sites_.find(lowered(place.site));
    if (exact != sites_.end() && is_meant(exact->second, place)) return &exact->second;
    for (const auto& [name, access] : sites_)
        if (is_meant(access, place)) return &access;
    return nullptr;
}

JiraSites::Access* JiraSites::of(const JiraTarget& place) {
    const Access* const found = std::as_const(*this).of(place);
    return found == nullptr ? nullptr : &sites_.at(found->name);
}

std::vector<const JiraSites::Access*> JiraSites::all() const {
    std::vector<const Access*> all;
    for (const auto& [name, access] : sites_)
        if (!name.empty() || access.is_set() || sites_.size() == 1) all.push_back(&access);
    return all;
}

std::string site_named_by(const JiraTarget& place) {
    return !place.base_url.empty() ? host_of(place.base_url) : lowered(place.site);
}

}  // namespace epilogue
