#include "agent/hooks.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"
#include "base/process/process.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

constexpr std::size_t longest_complaint = 500;
constexpr int blocks_the_others = 2;

struct Kind {
    std::string_view name;
    std::string_view other_name;
    std::vector<Hook> HookConfig::*hooks;  ///< null: cannot be run here
};
constexpr std::array<Kind, 6> kinds{{{"SessionStart", "session_start", &HookConfig::session_start},
                                     {"SessionEnd", "session_end", &HookConfig::session_end},
                                     {"PreToolUse", "pre_tool_use", nullptr},
                                     {"PostToolUse", "post_tool_use", nullptr},
                                     {"UserPromptSubmit", "user_prompt_submit", nullptr},
                                     {"Stop", "stop", nullptr}}};

const Kind* find_kind(std::string_view name) {
    return std::find_if(kinds.begin(), kinds.end(),
                        [name](const Kind& kind) { return kind.name == name || kind.other_name == name; });
}

AgentFailure wrong(const std::string& what) {
    return agent_failure(AgentError::Kind::invalid, "hooks: " + what);
}

/// The commands of one kind: those of each matcher, which has nothing to match for a session.
AgentResult<std::vector<Hook>> hooks_in(const Json& matchers, std::string_view kind) {
    std::vector<Hook> hooks;
    if (!matchers.is_array()) return wrong(std::string(kind) + " is no array");
    for (const Json& matcher : matchers) {
        if (!matcher.is_object() || !matcher.contains("hooks") || !matcher["hooks"].is_array())
            return wrong(std::string(kind) + " holds something without an array \"hooks\"");
        for (const Json& hook : matcher["hooks"]) {
            const std::string type = string_in(hook, "type");
            const std::string command = string_in(hook, "command");
            if (command.empty() || (!type.empty() && type != "command"))
                return wrong(std::string(kind) + " holds a hook that is no command");
            Hook read{command};
            if (hook.contains("timeout") && hook["timeout"].is_number_integer())
                read.timeout =
                    std::chrono::seconds(std::max<std::int64_t>(1, hook["timeout"].get<std::int64_t>()));
            hooks.push_back(std::move(read));
        }
    }
    return hooks;
}

std::string input_of(std::string_view event_type, const std::string& conversation_id,
                     const std::filesystem::path& folder) {
    return text_of({{"event_type", std::string(event_type)},
                    {"tool_name", nullptr},
                    {"tool_input", nullptr},
                    {"tool_response", nullptr},
                    {"message", nullptr},
                    {"session_id", conversation_id},
                    {"working_dir", folder.string()},
                    {"metadata", Json::object()}});
}

HookOutcome run_one(const Hook& hook, const process::Command& command) {
    HookOutcome outcome{hook.command, 0, ""};
    try {
        const process::Finished done = process::run(command, hook.timeout);
        outcome.status = done.status;
        if (done.status != 0)
            outcome.error = "exit status " + std::to_string(done.status) + ": " +
                            std::string(prefix_of(trimmed(done.err), longest_complaint));
    } catch (const std::exception& fault) {
        outcome.status = -1;
        outcome.error = fault.what();
    }
    return outcome;
}

}  // namespace

AgentResult<HookConfig> parse_hooks(std::string_view json) {
    const Json document = parse_ordered_json(json);
    if (!document.is_object()) return wrong("no JSON object");
    const Json& by_kind = document.contains("hooks") ? document["hooks"] : document;
    if (!by_kind.is_object()) return wrong("\"hooks\" is no object");
    HookConfig config;
    for (const auto& [name, matchers] : by_kind.items()) {
        const auto* const kind = find_kind(name);
        if (kind == kinds.end()) return wrong("\"" + name + "\" is no kind of hook");
        if (kind->hooks == nullptr) {
            if (!matchers.empty()) config.not_run.emplace_back(kind->name);
            continue;
        }
        auto hooks = hooks_in(matchers, kind->name);
        if (!hooks) return AgentFailure(hooks.error());
        config.*(kind->hooks) = std::move(*hooks);
    }
    return config;
}

std::vector<HookOutcome> run_hooks(const std::vector<Hook>& hooks, std::string_view event_type,
                                   const std::string& conversation_id, const std::filesystem::path& folder) {
    std::vector<HookOutcome> outcomes;
    for (const Hook& hook : hooks) {
        process::Command command;
        command.argv = {"/bin/sh", "-c", hook.command};
        command.environment = {{"OPENHANDS_PROJECT_DIR", folder.string()},
                               {"OPENHANDS_SESSION_ID", conversation_id},
                               {"OPENHANDS_EVENT_TYPE", std::string(event_type)}};
        command.folder = folder;
        command.input = input_of(event_type, conversation_id, folder);
        outcomes.push_back(run_one(hook, command));
        if (outcomes.back().status == blocks_the_others) break;
    }
    return outcomes;
}

}  // namespace epilogue::agent
