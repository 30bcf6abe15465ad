// epilogue conversations title | condense | secrets | policy | analyzer
#include <map>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "ops/cli/conversations.h"

namespace epilogue::cli {
namespace {

/// A short name's JSON, or `text` itself, which has to be JSON (or @FILE).
std::string json_of(const std::string& text, const std::map<std::string, std::string>& names) {
    const auto named = names.find(text);
    if (named != names.end()) return named->second;
    std::string json = text_or_file(text);
    if (parse_json(json).is_object()) return json;
    std::string known;
    for (const auto& [name, meaning] : names) known += name + ", ";
    throw Exit{usage, "expected " + known + "or a JSON object"};
}

/// NAME=env:VARIABLE or NAME=file:PATH.
std::pair<std::string, Secret> secret_of(const std::string& written) {
    const std::size_t equals = written.find('=');
    if (equals == 0 || equals == std::string::npos)
        throw Exit{usage, "SECRET: expected NAME=env:VARIABLE or NAME=file:PATH"};
    return {written.substr(0, equals), secret_at("SECRET's value", written.substr(equals + 1))};
}

}  // namespace

void add_conversation_settings(CLI::App& parent) {
    auto [title_command, title_common] =
        add_agent_command(parent, "title", "Have a title made (servers before 1.19.0), or set one");
    auto title = std::make_shared<std::string>();
    auto length = std::make_shared<int>(50);
    title_command->add_option("--set", *title, "Set this one");
    title_command->add_option("--max-length", *length, "Characters of one that is made")
        ->check(CLI::Range(1, 200));
    title_command->callback([common = title_common, title, length] {
        const std::string chosen = utf8_or_refuse(*title, "--set");
        const agent::ConversationCalls calls = reach_conversation(*common);
        if (chosen.empty())
            print_answer("title", expect(calls.generate_title(*length)), common->common.json);
        else
            expect(calls.set_title(chosen));
    });

    auto [condense_command, condense_common] =
        add_agent_command(parent, "condense", "Have the history condensed, where the agent has a condenser");
    condense_command->callback(
        [common = condense_common] { expect(reach_conversation(*common).condense()); });

    auto [secrets_command, secrets_common] = add_agent_command(parent, "secrets", "Add or replace secrets");
    auto written = std::make_shared<std::vector<std::string>>();
    secrets_command->add_option("SECRET", *written, "NAME=env:VARIABLE or NAME=file:PATH")->required();
    secrets_command->callback([common = secrets_common, written] {
        std::vector<std::pair<std::string, Secret>> secrets;
        for (const std::string& each : *written) secrets.push_back(secret_of(each));
        expect(reach_conversation(*common).update_secrets(secrets));
    });

    auto [policy_command, policy_common] =
        add_agent_command(parent, "policy", "Say which actions wait for confirmation");
    auto policy = std::make_shared<std::string>();
    policy_command->add_option("POLICY", *policy, "always, never, risky, or a JSON object")->required();
    policy_command->callback([common = policy_common, policy] {
        const std::string json = json_of(*policy, {{"always", R"({"kind":"AlwaysConfirm"})"},
                                                   {"never", R"({"kind":"NeverConfirm"})"},
                                                   {"risky", R"({"kind":"ConfirmRisky"})"}});
        expect(reach_conversation(*common).set_confirmation_policy(json));
    });

    auto [analyzer_command, analyzer_common] =
        add_agent_command(parent, "analyzer", "Say who judges an action's risk");
    auto analyzer = std::make_shared<std::string>();
    analyzer_command->add_option("ANALYZER", *analyzer, "none, llm, or a JSON object")->required();
    analyzer_command->callback([common = analyzer_common, analyzer] {
        const std::string json =
            json_of(*analyzer, {{"none", "null"}, {"llm", R"({"kind":"LLMSecurityAnalyzer"})"}});
        expect(reach_conversation(*common).set_security_analyzer(json));
    });
}

}  // namespace epilogue::cli
