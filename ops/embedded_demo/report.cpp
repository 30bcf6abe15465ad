#include "ops/embedded_demo/report.h"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/slack/slack_section.h"

namespace epilogue::demo {

void say_table(Terminal& terminal, std::size_t conversations, const Verifier& verifier) {
    const auto lost = verifier.lost();
    const auto too_many = verifier.duplicates().size();
    terminal.say(terminal.painted(Paint::bold, fmt::format("{:>13} {:>7} {:>7} {:>12} {:>6}", "conversations",
                                                           "turns", "posts", "duplicates", "lost")));
    terminal.say(fmt::format(
        "{:>13} {:>7} {:>7} {} {}\n", conversations, verifier.turns(), verifier.posts(),
        terminal.painted(too_many > 0 ? Paint::bad : Paint::good, fmt::format("{:>12}", too_many)),
        terminal.painted(lost.empty() ? Paint::good : Paint::bad, fmt::format("{:>6}", lost.size()))));
    const auto complain = [&](const char* what, const std::vector<std::string>& lines) {
        for (const std::string& line : lines) terminal.say(terminal.painted(Paint::bad, what) + line);
    };
    complain("lost: ", lost);
    complain("duplicate: ", verifier.duplicates());
    complain("unexpected: ", verifier.unexpected());
    if (verifier.is_good())
        terminal.say(terminal.painted(Paint::good, "Every ending was told, and none was told twice."));
}

void say_end_of_log(Terminal& terminal, const DemoEnvironment& environment) {
    constexpr std::size_t shown = 10;
    std::ifstream file(environment.log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (lines.size() == shown) lines.erase(lines.begin());
        lines.push_back(line);
    }
    if (!lines.empty()) terminal.say("\nThe last lines of the workers' log:");
    for (const std::string& line : lines) terminal.say("  " + line);
}

void say_addresses(Terminal& terminal, DemoEnvironment& environment, const std::vector<std::string>& parts,
                   const std::vector<std::string>& commands) {
    const auto& config = environment.config();
    terminal.say(fmt::format(
        "\nEverything goes on running until Ctrl-C.\n"
        "  broker     {}, topic {}\n"
        "  database   socket {}, user {}, database {}\n"
        "  GitHub     {}, a stand-in, as the next two\n"
        "  GitLab     {}\n"
        "  Slack      {}\n"
        "             {} shows what is posted",
        config.kafka.brokers, config.kafka.topic, config.database.socket, config.database.user,
        config.database.name, config.extensions.get<GithubSection>().api_url,
        config.extensions.get<GitlabSection>().api_url, config.extensions.get<SlackSection>().api_url,
        environment.platform().url("/_control/visible")));
    for (const std::string& endpoint : environment.workers())
        terminal.say(fmt::format("  worker     http://{}/metrics, /readyz, /healthz", endpoint));
    for (const std::string& part : parts) terminal.say("  " + part);
    terminal.say(fmt::format("  log        {}\nTry:", environment.log_file().string()));
    std::vector<std::string> all{"callbacks list", "deliveries list"};
    all.insert(all.end(), commands.begin(), commands.end());
    for (const std::string& command : all)
        terminal.say(fmt::format("  epilogue {} --config {}", command, environment.config_file().string()));
}

}  // namespace epilogue::demo
