#include <algorithm>
#include <array>
#include <string>

#include "schemas/decode_generations.h"
#include "schemas/instruction.h"
#include "schemas/made_requests.h"
#include "schemas/origin.h"

namespace epilogue {
namespace {

// Names of openhands/core/schema/action.py and observation.py over the life of V0. They matter only for
// events that are not the agent's actions: known ones are a sign of life, others nothing.
constexpr std::array<std::string_view, 27> actions{
    "message",       "system",       "start",         "read",         "write",
    "edit",          "run",          "run_ipython",   "browse",       "browse_interactive",
    "delegate",      "think",        "finish",        "reject",       "null",
    "pause",         "resume",       "stop",          "push",         "change_agent_state",
    "send_pr",       "recall",       "call_tool_mcp", "condensation", "condensation_request",
    "task_tracking", "loop_recovery"};
constexpr std::array<std::string_view, 22> observations{"read",          "write",
                                                        "edit",          "browse",
                                                        "run",           "run_ipython",
                                                        "chat",          "delegate",
                                                        "error",         "null",
                                                        "message",       "success",
                                                        "think",         "condense",
                                                        "user_rejected", "recall",
                                                        "mcp",           "download",
                                                        "task_tracking", "loop_detection",
                                                        "server_ready",  "agent_state_changed"};
/// Actions of the agent's side that are not steps of its work.
constexpr std::array<std::string_view, 4> housekeeping{"system", "recall", "condensation", "think"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void add_work_of_action(std::string_view name, const JsonPart& args, Event& decoded) {
    const std::string_view command = args["command"].string_or_empty();
    if (name == "run" && !command.empty() && !args["is_input"].is_true())
        decoded.work.emplace_back(CommandStarted{decoded.id, std::string(command)});
    if (name == "finish") {
        // A boolean, or one of "true", "partial", "false".
        const JsonPart& completed = args["task_completed"];
        if (completed.is_given() && !completed.text.empty())
            decoded.work.emplace_back(OutcomeSaid{completed.text == "true"});
    }
    const std::string_view reason = args["outputs"]["reason"].string_or_empty();
    if (name == "reject" && !reason.empty()) decoded.work.emplace_back(TaskRefused{std::string(reason)});
}

/// What an action does, for people: its command, or its name with the file it is used on.
std::string step_of(std::string_view name, const JsonPart& args) {
    const std::string_view command = args["command"].string_or_empty();
    if (name == "run" && !command.empty()) return std::string(command);
    const std::string_view path = args["path"].string_or_empty();
    return path.empty() ? std::string(name) : std::string(name).append(" ").append(path);
}

std::optional<Body> action(std::string_view name, const JsonPart& event, Event& decoded) {
    const std::string_view source = event["source"].string_or_empty();
    const JsonPart& args = event["args"];
    add_work_of_action(name, args, decoded);
    if (name == "message" && source == "user") {
        const std::string_view text = args["content"].string_or_empty();
        if (!instruction_in(text).empty()) return StatusChange{std::string(instructed_status), ""};
        return UserMessage{std::string(origin_in(text))};
    }
    if (source != "agent") {
        if (!is_one_of(name, actions)) return std::nullopt;
        return Activity{};
    }
    if (is_one_of(name, housekeeping)) return Activity{};
    const bool is_finish = name == "finish";
    if (is_finish || name == "message") {
        // A finish without text is a word too, an empty one: what was said before it is not the last word.
        const JsonPart& text = args[is_finish ? "final_thought" : "content"];
        return AgentMessage{is_finish ? MessageKind::finish : MessageKind::message,
                            std::string(text.string_or_empty())};
    }
    return AgentAction{step_of(name, args)};
}

std::optional<Body> observation(std::string_view name, const JsonPart& event, Event& decoded) {
    if (!is_one_of(name, observations)) return std::nullopt;
    const JsonPart& extras = event["extras"];
    if (name == "agent_state_changed") {
        const auto state = extras["agent_state"].string();
        if (!state) return Activity{};
        return StatusChange{std::string(*state), std::string(extras["reason"].string_or_empty())};
    }
    const std::string_view content = event["content"].string_or_empty();
    const std::string_view path = extras["path"].string_or_empty();
    if (name == "run") {
        const auto cause = event["cause"].integer();
        const JsonPart& metadata = extras["metadata"];
        const std::string id = cause ? std::to_string(*cause) : "";
        add_shell_work(
            decoded.work,
            {id, extras["command"].string_or_empty(), content, metadata["working_dir"].string_or_empty()},
            metadata["exit_code"]);
    } else if (name == "error") {
        decoded.work.emplace_back(ErrorSeen{decoded.id, std::string(content)});
    } else if (name == "edit" || name == "write") {  // one that failed is an `error`
        if (!path.empty()) decoded.work.emplace_back(file_change(path, extras));
    } else {
        if (name == "mcp")
            add_requests(decoded.work, requests_made_by_tool(extras["name"].string_or_empty(), content));
        decoded.work.emplace_back(ToolSucceeded{});
    }
    return Activity{};
}

}  // namespace

std::optional<Event> decode_v0(const JsonPart& event) {
    const auto number = event["id"].integer();
    if (!number || *number < 0) return std::nullopt;
    Event decoded;
    decoded.schema = Schema::v0;
    decoded.number = *number;
    decoded.id = std::to_string(*number);
    const auto name = event["action"].string();
    auto body = name ? action(*name, event, decoded)
                     : observation(event["observation"].string_or_empty(), event, decoded);
    if (!body) return std::nullopt;
    decoded.body = std::move(*body);
    if (const JsonPart& metrics = event["llm_metrics"]; metrics.is_given()) {
        UsageTold usage;
        add_usage(usage, metrics);
        decoded.work.emplace_back(usage);
    }
    decoded.timestamp = timestamp_of(event);
    return decoded;
}

}  // namespace epilogue
