#include "tests/support/v1_events.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace epilogue::testing::v1 {
namespace {

std::string quoted(std::string_view text) {
    return json_line(nlohmann::json(text));
}

std::string event(std::string_view kind, std::string_view id, std::string_view stamp, std::string_view source,
                  std::string_view rest) {
    return fmt::format(R"({{"kind":"{}","id":"{}","timestamp":"{}","source":"{}",{}}})", kind, id, stamp,
                       source, rest);
}

std::string message(std::string_view role, std::string_view text) {
    return fmt::format(R"("llm_message":{{"role":"{}","content":[{{"type":"text","text":{}}}]}})", role,
                       quoted(text));
}

}  // namespace

std::string user_message(std::string_view id, std::string_view stamp, std::string_view text) {
    return event("MessageEvent", id, stamp, "user", message("user", text));
}

std::string agent_message(std::string_view id, std::string_view stamp, std::string_view text) {
    return event("MessageEvent", id, stamp, "agent", message("assistant", text));
}

std::string finish_action(std::string_view id, std::string_view stamp, std::optional<std::string_view> text) {
    const auto action =
        text ? fmt::format(R"({{"kind":"FinishAction","message":{}}})", quoted(*text)) : "null";
    return event("ActionEvent", id, stamp, "agent", R"("tool_name":"finish","action":)" + action);
}

std::string edit_action(std::string_view id, std::string_view stamp, std::string_view path) {
    return event("ActionEvent", id, stamp, "agent",
                 fmt::format(R"("tool_name":"file_editor","action":{{"kind":"FileEditorAction",)"
                             R"("command":"create","path":"{}"}})",
                             path));
}

std::string observation(std::string_view id, std::string_view stamp, std::string_view action_id,
                        std::string_view path) {
    return event(
        "ObservationEvent", id, stamp, "environment",
        fmt::format(R"("tool_name":"file_editor","action_id":"{}","observation":{{)"
                    R"("kind":"FileEditorObservation","content":[],"command":"create","path":"{}"}})",
                    action_id, path));
}

std::string state(std::string_view id, std::string_view stamp, std::string_view key,
                  std::string_view json_value) {
    return event("ConversationStateUpdateEvent", id, stamp, "environment",
                 fmt::format(R"("key":"{}","value":{})", key, json_value));
}

std::string status(std::string_view id, std::string_view stamp, std::string_view value) {
    return state(id, stamp, "execution_status", quoted(value));
}

std::string error_detail(std::string_view id, std::string_view stamp, std::string_view code,
                         std::string_view detail) {
    return event("ConversationErrorEvent", id, stamp, "environment",
                 fmt::format(R"("code":{},"detail":{})", quoted(code), quoted(detail)));
}

}  // namespace epilogue::testing::v1
