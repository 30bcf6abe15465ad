#include "sinks/jira/jira_section.h"

namespace epilogue {

ConfigSection jira_section() {
    return {"jira",
            "Posts to Jira issues, of Cloud and of Data Center.",
            {
                {"api_url", optional_url(place(&JiraSection::api_url)),
                 "Base URL of the site, e.g. \"https://acme.atlassian.net\"."},
                {"email", any_text(place(&JiraSection::email)),
                 "Whose token it is, on Jira Cloud; \"\": Data Center, where a token stands for itself."},
                {"token", secret(place(&JiraSection::token)),
                 "API token (Cloud) or personal access token (Data Center) that may write comments."},
                {"budget", budget(place(&JiraSection::budget)),
                 "Comments with this token, of all workers together. \"auto\": no limit of our own, for Jira "
                 "publishes none. Waiting times that Jira asks for are always kept."},
            },
            [](const Config& config) { return !config.extensions.get<JiraSection>().token.empty(); }};
}

}  // namespace epilogue
