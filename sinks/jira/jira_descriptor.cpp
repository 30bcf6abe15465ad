#include <map>
#include <utility>

#include "sinks/jira/jira.h"
#include "sinks/jira/jira_section.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::unique_ptr<Sink> make_jira(const SinkSettings& settings) {
    const auto& section = settings.sections.get<JiraSection>();
    const auto site_of = [](const JiraSiteSection& site) {
        return JiraSite{.api_url = site.api_url, .email = site.email, .token = site.token.reveal()};
    };
    std::map<std::string, JiraSite> sites;
    for (const auto& [name, site] : section.sites) sites[name] = site_of(site);
    return std::make_unique<JiraSink>(JiraSettings{.usual = site_of(section.usual),
                                                   .sites = std::move(sites),
                                                   .mac_key = settings.mac_key,
                                                   .version = settings.version,
                                                   .budget = section.budget});
}

}  // namespace

const SinkDescriptor& jira_sink() {
    static const SinkDescriptor descriptor{
        .name = "jira",
        .sections = {jira_section()},
        .shapes = jira_shapes(),
        .wanted = {"", jira_members()},
        .describe = describe_place<JiraTarget>,
        .same = same_place<JiraTarget>,
        .make = make_jira,
        .form = R"({"issue_key": "PROJ-12", "site": "name of a [jira.sites.<name>]"?})"};
    return descriptor;
}

}  // namespace epilogue
