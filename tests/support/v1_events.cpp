#include "tests/support/v1_events.h"

#include <fmt/format.h>

namespace epilogue::testing::v1 {
namespace {

std::string event(std::string_view kind, std::string_view id, std::string_view stamp, std::string_view source,
                  std::string_view rest) {
    return fmt::format(R"({{"kind":"{}","id":"{}","timestamp":"{}","source":"{}",{}}})", kind, id, stamp,
                       source, rest);
}

std::string message(std::string_view role, std::string_view text) {
    return fmt::format(R"("llm_message":{{"role":"{}","content":[{{"type":"text","text":"{}"}}]}})", role,
                       text);
}

}  // namespace

std::string user_message(std::string_view id, std::string_view stamp) {
    return event("MessageEvent", id, stamp, "user", message("user", "go on"));
}

std::string agent_message(std::string_view id, std::string_view stamp, std::string_view text) {
    return event("MessageEvent", id, stamp, "agent", message("assistant", text));
}

std::string finish_action(std::string_view id, std::string_view stamp, std::string_view text) {
    return event(
        "ActionEvent", id, stamp, "agent",
        fmt::format(R"("tool_name":"finish","action":{{"kind":"FinishAction","message":"{}"}})", text));
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

std::string status(std::string_view id, std::string_view stamp, std::string_view value) {
    return event("ConversationStateUpdateEvent", id, stamp, "environment",
                 fmt::format(R"("key":"execution_status","value":"{}")", value));
}

std::string error_detail(std::string_view id, std::string_view stamp) {
    return event("ConversationErrorEvent", id, stamp, "environment",
                 R"("code":"LLMError","detail":"no answer")");
}

}  // namespace epilogue::testing::v1
