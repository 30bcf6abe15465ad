#include "sinks/jira/jira_section.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace epilogue {
namespace {

using SitePlace = ConfigPlace<JiraSiteSection>;

/// The key of a site, bound to the site at `at`.
std::vector<std::pair<std::string_view, ConfigKind>> keys_of(const SitePlace& at) {
    return {{"api_url", optional_url([at](Config& config) -> std::string& { return at(config).api_url; })},
            {"email", any_text([at](Config& config) -> std::string& { return at(config).email; })},
            {"token", secret([at](Config& config) -> Secret& { return at(config).token; })}};
}

SitePlace usual_site() {
    return [](Config& config) -> JiraSiteSection& { return config.extensions.edit<JiraSection>().usual; };
}

SitePlace site_named(const std::string& name) {
    return [name](Config& config) -> JiraSiteSection& {
        return config.extensions.edit<JiraSection>().sites[name];
    };
}

Problem read_site(Config& config, const ConfigEntry& site, const std::string& expected) {
    const auto* entries = std::get_if<ConfigValue::Table>(&site.value.data);
    if (entries == nullptr) return Complaint(site.name + ": expected " + expected, site.line);
    for (const ConfigEntry& entry : *entries) {
        bool is_known = false;
        for (const auto& [key, kind] : keys_of(site_named(site.name))) {
            if (key != entry.name) continue;
            is_known = true;
            if (auto problem = kind.read(config, entry.value))
                return Complaint(fmt::format("{}.{}: {}", site.name, key, problem->text), entry.line);
        }
        if (!is_known)
            return Complaint(
                fmt::format("{}.{}: unknown key: expected api_url, email or token", site.name, entry.name),
                entry.line);
    }
    const auto& made = site_named(site.name)(config);
    if (made.api_url.empty() || made.token.empty())
        return Complaint(
            fmt::format("{}: {} is missing", site.name, made.api_url.empty() ? "api_url" : "token"),
            site.line);
    return {};
}

/// `[jira.sites."<name>"]`.
ConfigKind sites() {
    ConfigKind kind;
    kind.written = ConfigKind::Written::table;
    kind.expected = "tables [jira.sites.\"<name>\"] with api_url, email and token";
    kind.sample =
        "# [jira.sites.\"acme\"]\n# api_url = \"https://acme.atlassian.net\"\n"
        "# email = \"bot@acme.example\"\n# token = \"env:JIRA_TOKEN_OF_ACME\"\n";
    kind.read = [expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* names = std::get_if<ConfigValue::Table>(&value.data);
        if (names == nullptr) return Complaint("expected " + expected);
        config.extensions.edit<JiraSection>().sites.clear();
        for (const ConfigEntry& site : *names)
            if (auto problem = read_site(config, site, expected)) return problem;
        return {};
    };
    kind.resolve = [](Config& config, const Environment& environment) -> Problem {
        const auto written = config.extensions.get<JiraSection>().sites;
        for (const auto& [name, site] : written)
            for (const auto& [key, of_key] : keys_of(site_named(name)))
                if (of_key.resolve)
                    if (const auto problem = of_key.resolve(config, environment))
                        return Complaint(fmt::format("{}: {}: {}", name, key, problem->text));
        return {};
    };
    return kind;
}

}  // namespace

ConfigSection jira_section() {
    auto usual = keys_of(usual_site());
    const std::array<std::string_view, 3> docs{
        "Base URL of the site, e.g. \"https://acme.atlassian.net\".",
        "Whose token it is, on Jira Cloud; \"\": Data Center, where a token stands for itself.",
        "API token (Cloud) or personal access token (Data Center) that may write comments."};
    std::vector<ConfigKey> keys;
    for (std::size_t i = 0; i < usual.size(); ++i)
        keys.push_back({usual[i].first, std::move(usual[i].second), docs.at(i)});
    keys.push_back(
        {"budget", budget(place(&JiraSection::budget)),
         "Comments with one token, of all workers together. \"auto\": no limit of our own, for Jira "
         "publishes none. Waiting times that Jira asks for are always kept."});
    keys.push_back({"sites", sites(),
                    "More sites, by what rows call them: site, workspace_name, jira_cloud_id, or the host of "
                    "base_api_url. A row that names a site is posted there and nowhere else."});
    return {"jira", "Posts to Jira issues, of Cloud and of Data Center.", std::move(keys),
            [](const Config& config) {
                const auto& jira = config.extensions.get<JiraSection>();
                return !jira.usual.token.empty() || !jira.sites.empty();
            }};
}

}  // namespace epilogue
