#include <algorithm>
#include <array>
#include <string>

#include "schemas/decode_generations.h"
#include "schemas/instruction.h"
#include "schemas/made_requests.h"
#include "schemas/origin.h"
#include "schemas/stop_hook.h"

namespace epilogue {
namespace {

constexpr std::size_t max_id_bytes = 255;  // of every id column

/// Kinds that are a sign of life and no more.
constexpr std::array<std::string_view, 12> activities{
    "UserRejectObservation", "PauseEvent",          "InterruptEvent",           "Condensation",
    "CondensationRequest",   "SystemPromptEvent",   "CondensationSummaryEvent", "TokenEvent",
    "LLMCompletionLogEvent", "StreamingDeltaEvent", "ServerErrorEvent",         "ACPToolCallEvent"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 3> shells{"terminal", "execute_bash", "bash"};

/// The text blocks of a message or an observation, one after the other.
std::string text_of(const JsonPart& content) {
    if (const auto text = content.string()) return std::string(*text);
    std::string joined;
    bool first = true;
    for (const JsonPart& block : content.parts) {
        const auto text = block["text"].string();
        if (block["type"].string() != "text" || !text) continue;
        if (!first) joined += '\n';
        joined += *text;
        first = false;
    }
    return joined;
}

Body message(const JsonPart& event) {
    const std::string_view source = event["source"].string_or_empty();
    if (source != "user" && source != "agent") return Activity{};
    std::string text = text_of(event["llm_message"]["content"]);
    if (source == "agent") return AgentMessage{MessageKind::message, std::move(text)};
    if (!instruction_in(text).empty()) return StatusChange{std::string(instructed_status), ""};
    std::string_view origin = origin_in(text);
    if (origin.empty()) origin = event["sender"].string_or_empty();
    return UserMessage{std::string(is_origin(origin) ? origin : std::string_view())};
}

/// What an action does, for people: its command, or its tool's name with the file it is used on.
std::string step_of(std::string_view tool, const JsonPart& call) {
    const std::string_view command = call["command"].string_or_empty();
    if (is_one_of(tool, shells)) return std::string(command);
    const JsonPart& named = call["path"];
    const std::string_view path = (named.is_given() ? named : call["file_path"]).string_or_empty();
    std::string step(tool);
    for (const std::string_view word : {command, path})
        if (!word.empty()) step.append(" ").append(word);
    return step;
}

Body action(const JsonPart& event, const std::string& id, std::vector<Work>& work) {
    if (event["source"].string() != "agent") return Activity{};
    const std::string_view tool = event["tool_name"].string_or_empty();
    const JsonPart& call = event["action"];  // null when the arguments could not be parsed
    const std::string_view command = call["command"].string_or_empty();

    const auto last_words = call["message"].string();
    if (tool == "finish" && call["kind"].string() == "FinishAction" && last_words) {
        // No release that was looked at has either; V0's finish has the first.
        for (const auto* const name : {"task_completed", "outcome"})
            if (const JsonPart& said = call[name]; said.is_given() && !said.text.empty())
                work.emplace_back(OutcomeSaid{said.text == "true" || said.text == "success"});
        return AgentMessage{MessageKind::finish, std::string(*last_words)};
    }
    if (is_one_of(tool, shells) && !command.empty() && !call["is_input"].is_true())
        work.emplace_back(CommandStarted{id, std::string(command)});
    return AgentAction{step_of(tool, call)};
}

Body goal_update(const JsonPart& goal) {
    return GoalUpdate{goal["active"].is_true(), std::string(goal["status"].string_or_empty()),
                      std::max<std::int64_t>(0, goal["iteration"].integer().value_or(0)),
                      std::max<std::int64_t>(0, goal["max_iterations"].integer().value_or(0))};
}

/// `stats`: what each model has cost so far.
void add_stats(std::vector<Work>& work, const JsonPart& stats) {
    const JsonPart& models = stats["usage_to_metrics"];
    if (models.parts.empty()) return;
    UsageTold usage;
    for (const JsonPart& model : models.parts) add_usage(usage, model);
    work.emplace_back(usage);
}

Body state_update(const JsonPart& event, Event& decoded, const RecordMarks& marks) {
    const std::string_view key = event["key"].string_or_empty();
    const JsonPart& value = event["value"];
    if (const auto status = value.string(); key == "execution_status" && status)
        return StatusChange{std::string(*status), ""};
    if (key == "goal" && value["active"].type == JsonPart::Type::boolean) return goal_update(value);
    if (key == "stats") add_stats(decoded.work, value);
    if (key == "hook_config") decoded.has_stop_hook = has_stop_hook(value);
    if (key != "full_state") return Activity{};
    if (has_stop_hook(value["hook_config"])) decoded.has_stop_hook = true;
    if (!marks.run_over) return Activity{};
    return RunOver{std::string(value["execution_status"].string_or_empty())};
}

Body hook_execution(const JsonPart& event, Event& decoded) {
    if (event["hook_event_type"].string() != "Stop") return Activity{};
    decoded.has_stop_hook = true;
    return StopHookVerdict{event["blocked"].is_true()};
}

/// What an editor did: it changed a file, or failed to. Looking at one is neither.
void add_edit(std::vector<Work>& work, const JsonPart& event, std::string answer) {
    constexpr std::array<std::string_view, 4> changes{"create", "str_replace", "insert", "undo_edit"};
    const JsonPart& result = event["observation"];
    if (!is_one_of(result["command"].string_or_empty(), changes)) return;
    const std::string_view path = result["path"].string_or_empty();
    if (result["is_error"].is_true())
        work.emplace_back(ErrorSeen{std::string(event["id"].string_or_empty()), std::move(answer), true});
    else if (!path.empty())
        work.emplace_back(file_change(path, result));
}

/// `edit` and `write_file`, which take and answer the shape of Gemini's tools.
void add_whole_file_edit(std::vector<Work>& work, const JsonPart& result) {
    const std::string_view path = result["file_path"].string_or_empty();
    if (path.empty()) return;
    FileChanged changed = file_change(path, result);
    if (result["is_new_file"].is_true()) {
        changed.change = FileChange::created;
        if (const auto content = result["new_content"].string()) changed.lines = line_change("", *content);
    }
    work.emplace_back(std::move(changed));
}

/// `apply_patch`: one patch changes several files, each told with its contents before and after.
void add_patch(std::vector<Work>& work, const JsonPart& changes) {
    for (const JsonPart& part : changes.parts) {
        const std::string_view type = part["type"].string_or_empty();
        const std::string_view moved_to = part["move_path"].string_or_empty();
        const std::string_view before = part["old_content"].string_or_empty();
        const std::string_view after = part["new_content"].string_or_empty();
        if (type == "delete" || !moved_to.empty())
            work.emplace_back(FileChanged{part.key, FileChange::deleted, std::nullopt});
        if (type == "delete") continue;
        const bool is_new = type == "add" || !moved_to.empty();
        work.emplace_back(FileChanged{moved_to.empty() ? part.key : std::string(moved_to),
                                      is_new ? FileChange::created : FileChange::edited,
                                      line_change(before, after)});
    }
}

/// What a tool that only changes files came to; false when it is none.
bool add_file_tool(std::vector<Work>& work, std::string_view tool, const JsonPart& event,
                   std::string& answer) {
    constexpr std::array<std::string_view, 3> editors{"file_editor", "str_replace_editor",
                                                      "planning_file_editor"};
    constexpr std::array<std::string_view, 2> whole_file{"edit", "write_file"};
    if (is_one_of(tool, editors)) {
        add_edit(work, event, std::move(answer));
        return true;
    }
    const bool is_patch = tool == "apply_patch";
    if (!is_patch && !is_one_of(tool, whole_file)) return false;
    const JsonPart& result = event["observation"];
    if (result["is_error"].is_true())
        work.emplace_back(ErrorSeen{std::string(event["id"].string_or_empty()), std::move(answer), true});
    else if (is_patch)
        add_patch(work, result["commit"]["changes"]);
    else
        add_whole_file_edit(work, result);
    return true;
}

Body observation(const JsonPart& event, std::vector<Work>& work) {
    const JsonPart& result = event["observation"];
    const std::string_view tool = event["tool_name"].string_or_empty();
    std::string answer = text_of(result["content"]);
    if (is_one_of(tool, shells)) {
        add_shell_work(work,
                       {event["action_id"].string_or_empty(), result["command"].string_or_empty(), answer,
                        result["metadata"]["working_dir"].string_or_empty()},
                       result["exit_code"]);
    } else if (add_file_tool(work, tool, event, answer)) {
        return Activity{};
    } else if (result["is_error"].is_true()) {
        work.emplace_back(ErrorSeen{std::string(event["id"].string_or_empty()), std::move(answer)});
    } else {
        add_requests(work, requests_made_by_tool(tool, answer));
        work.emplace_back(ToolSucceeded{});
    }
    return Activity{};
}

/// The body by kind, and `work` beside it; nullopt for kinds that we do not know.
std::optional<Body> body_of(std::string_view kind, const JsonPart& event, Event& decoded,
                            const RecordMarks& marks) {
    if (kind == "MessageEvent") return message(event);
    if (kind == "ActionEvent") return action(event, decoded.id, decoded.work);
    if (kind == "ObservationEvent") return observation(event, decoded.work);
    if (kind == "ConversationStateUpdateEvent") return state_update(event, decoded, marks);
    if (kind == "HookExecutionEvent") return hook_execution(event, decoded);
    if (kind == "ConversationErrorEvent")
        return ErrorDetail{std::string(event["code"].string_or_empty()),
                           std::string(event["detail"].string_or_empty()),
                           std::string(event["classification"]["kind"].string_or_empty())};
    if (kind == "AgentErrorEvent") {
        decoded.work.emplace_back(ErrorSeen{decoded.id, std::string(event["error"].string_or_empty())});
        return Activity{};
    }
    if (is_one_of(kind, activities)) return Activity{};
    return std::nullopt;
}

/// Whether a time that can be read ends in Z or ±hh:mm.
bool says_zone(std::string_view time) {
    constexpr std::size_t date_and_time = std::string_view("2026-11-21T08:13:42").size();
    return time.find_first_of("Zz+-", date_and_time) != std::string_view::npos;
}

}  // namespace

std::optional<Event> decode_v1(const JsonPart& event, const RecordMarks& marks) {
    Event decoded;
    decoded.schema = Schema::v1;
    decoded.id = event["id"].string_or_empty();
    if (decoded.id.empty() || decoded.id.size() > max_id_bytes) return std::nullopt;
    auto body = body_of(event["kind"].string_or_empty(), event, decoded, marks);
    if (!body) return std::nullopt;
    decoded.body = std::move(*body);
    decoded.timestamp = timestamp_of(event);
    decoded.is_utc = says_zone(event["timestamp"].string_or_empty());
    decoded.seq = marks.seq;
    return decoded;
}

}  // namespace epilogue
