#include "agent/last_words.h"

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"

namespace epilogue::agent {
namespace {

std::optional<std::string> words_of(const RemoteEvent& event) {
    if (event.source != "agent") return std::nullopt;
    if (event.kind == "MessageEvent") return message_text(event);
    if (event.kind != "ActionEvent") return std::nullopt;
    const Json action = parse_ordered_json(event.json);
    if (string_in(action, "tool_name") != "finish") return std::nullopt;
    const Json& finish = member_of(action, "action");
    if (string_in(finish, "kind") != "FinishAction") return std::nullopt;
    return string_in(finish, "message");
}

}  // namespace

std::string message_text(const RemoteEvent& event) {
    if (event.kind != "MessageEvent") return "";
    const Json message = parse_ordered_json(event.json);
    std::string text;
    const Json& content = member_of(member_of(message, "llm_message"), "content");
    if (!content.is_array()) return "";
    for (const Json& part : content)
        if (string_in(part, "type") == "text") text += string_in(part, "text");
    return text;
}

AgentResult<std::string> last_words_of(const ConversationCalls& calls) {
    auto said = calls.final_response();
    if (said || said.error().kind != AgentError::Kind::unsupported) return said;
    for (const bool newest : {true, false}) {
        const auto log = newest ? calls.newest_events() : calls.events();
        if (!log) return AgentFailure(log.error());
        EventList events;
        events.reconcile(*log);
        if (auto words = last_words(events)) return std::move(*words);
    }
    return "";
}

std::optional<std::string> last_words(const EventList& events) {
    for (auto at = events.end(); at != events.begin();) {
        --at;
        if (auto words = words_of(**at)) return words;
    }
    return std::nullopt;
}

}  // namespace epilogue::agent
