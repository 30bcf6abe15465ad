#include "sinks/registry.h"

#include <array>
#include <string_view>
#include <utility>

#include "sinks/github/github.h"
#include "sinks/gitlab/gitlab.h"
#include "sinks/log/log.h"
#include "sinks/slack/slack.h"

namespace epilogue {
namespace {

using MakeSink = std::unique_ptr<Sink> (*)(const SinkSettings&);

std::unique_ptr<Sink> make_github(const SinkSettings& settings) {
    return std::make_unique<GithubSink>(GithubSettings{.api_url = settings.github_api_url,
                                                       .token = settings.github_token,
                                                       .mac_key = settings.mac_key,
                                                       .http_timeout = settings.http_timeout,
                                                       .version = settings.version,
                                                       .budget = settings.github_budget,
                                                       .transport = settings.transport});
}

std::unique_ptr<Sink> make_gitlab(const SinkSettings& settings) {
    return std::make_unique<GitlabSink>(GitlabSettings{.api_url = settings.gitlab_api_url,
                                                       .token = settings.gitlab_token,
                                                       .mac_key = settings.mac_key,
                                                       .http_timeout = settings.http_timeout,
                                                       .version = settings.version,
                                                       .budget = settings.gitlab_budget,
                                                       .transport = settings.transport});
}

std::unique_ptr<Sink> make_slack(const SinkSettings& settings) {
    return std::make_unique<SlackSink>(SlackSettings{.api_url = settings.slack_api_url,
                                                     .token = settings.slack_token,
                                                     .teams = settings.slack_teams,
                                                     .http_timeout = settings.http_timeout,
                                                     .version = settings.version,
                                                     .budget = settings.slack_budget,
                                                     .transport = settings.transport});
}

std::unique_ptr<Sink> make_log(const SinkSettings& settings) {
    return std::make_unique<LogSink>(settings.write_log);
}

constexpr std::array<std::pair<std::string_view, MakeSink>, 4> table{{
    {"github", make_github},
    {"gitlab", make_gitlab},
    {"log", make_log},
    {"slack", make_slack},
}};

}  // namespace

std::map<std::string, std::unique_ptr<Sink>> make_sinks(const SinkSettings& settings) {
    std::map<std::string, std::unique_ptr<Sink>> sinks;
    for (const auto& [name, make] : table) sinks.emplace(name, make(settings));
    return sinks;
}

}  // namespace epilogue
