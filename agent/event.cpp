#include "agent/event.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

std::string status_in(const Json& update, std::string_view key) {
    const auto value = update.find("value");
    if (value == update.end()) return "";
    if (key == "execution_status" && value->is_string()) return value->get<std::string>();
    return key == "full_state" ? string_in(*value, "execution_status") : "";
}

std::string error_in(const Json& event) {
    const std::string code(trimmed(string_in(event, "code")));
    const std::string detail(trimmed(string_in(event, "detail")));
    return code.empty() || detail.empty() ? code + detail : code + ": " + detail;
}

}  // namespace

bool RemoteEvent::is_stored() const {
    return !is_full_state() && kind != "StreamingDeltaEvent" && kind != "ServerErrorEvent";
}

std::optional<RemoteEvent> parse_event(std::string_view json) {
    const Json parsed = parse_ordered_json(json);
    RemoteEvent event;
    event.id = string_in(parsed, "id");
    if (event.id.empty()) return std::nullopt;
    event.timestamp = string_in(parsed, "timestamp");
    event.kind = string_in(parsed, "kind");
    event.source = string_in(parsed, "source");
    if (event.kind == "ConversationStateUpdateEvent") {
        event.key = string_in(parsed, "key");
        event.status = status_in(parsed, event.key);
        const Json& active = member_of(member_of(parsed, "value"), "active");
        if (event.key == "goal" && active.is_boolean()) event.goal = active.get<bool>();
    } else if (event.kind == "ConversationErrorEvent") {
        event.error = error_in(parsed);
    } else if (event.kind == "HookExecutionEvent" && string_in(parsed, "hook_event_type") == "Stop") {
        const Json& blocked = member_of(parsed, "blocked");
        event.stop = blocked.is_boolean() && blocked.get<bool>() ? StopVerdict::denied : StopVerdict::allowed;
    }
    event.json = text_of(parsed);
    return event;
}

bool ends_run(std::string_view status) {
    constexpr std::array<std::string_view, 5> ends{"finished", "error", "stuck", "paused",
                                                   "waiting_for_confirmation"};
    return std::find(ends.begin(), ends.end(), status) != ends.end();
}

}  // namespace epilogue::agent
