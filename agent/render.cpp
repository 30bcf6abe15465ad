#include "agent/render.h"

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "agent/last_words.h"
#include "base/bounded_json.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

/// The text parts of a content: an array of parts, or a string in older events.
std::string text_in(const Json& content) {
    if (content.is_string()) return content.get<std::string>();
    std::string text;
    if (content.is_array())
        for (const Json& part : content) text += string_in(part, "text");
    return text;
}

/// Its arguments that a person wants to see: the command, the path, the message.
std::string action_text(const Json& event) {
    const Json& action = member_of(event, "action");
    std::string text;
    for (const char* const name : {"command", "path", "message", "thought"}) {
        const std::string value = string_in(action, name);
        if (!value.empty()) text += (text.empty() ? "" : " ") + value;
    }
    return text.empty() && !action.is_object() ? "(could not be parsed)" : text;
}

std::string words(const RemoteEvent& event) {
    const Json json = parse_ordered_json(event.json);
    if (event.kind == "MessageEvent") return event.source + ": " + message_text(event);
    if (event.kind == "ActionEvent") {
        const std::string thought = text_in(member_of(json, "thought"));
        return (thought.empty() ? "" : "agent: " + thought + "\n") + "> " + string_in(json, "tool_name") +
               " " + action_text(json);
    }
    if (event.kind == "ObservationEvent") {
        const Json& observation = member_of(json, "observation");
        const std::string text = text_in(member_of(observation, "content"));
        return "< " + string_in(json, "tool_name") + " " + text;
    }
    if (event.kind == "AgentErrorEvent") return "! " + string_in(json, "error");
    if (event.kind == "UserRejectObservation") return "rejected: " + string_in(json, "rejection_reason");
    if (event.kind == "ConversationErrorEvent") return "error: " + event.error;
    if (event.kind == "ConversationStateUpdateEvent")
        return event.key == "execution_status" ? "[" + event.status + "]" : "";
    if (event.kind == "PauseEvent") return "[pause asked for]";
    if (event.kind == "InterruptEvent") return "[interrupted]";
    if (event.kind == "Condensation") return "[history condensed] " + string_in(json, "summary");
    return "";
}

}  // namespace

std::string printable(std::string_view text) {
    std::string clean;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (c1) {
            ++i;
            continue;
        }
        const std::string_view three = text.substr(i, 3);
        const bool bidi =
            (three >= "\u202A" && three <= "\u202E") || (three >= "\u2066" && three <= "\u2069");
        if (bidi) {
            i += 2;
            continue;
        }
        if (byte >= ' ' ? byte != 0x7F : byte == '\n' || byte == '\t') clean += text[i];
    }
    return clean;
}

std::string render(const RemoteEvent& event, std::size_t longest) {
    const std::string text = printable(words(event));
    const std::string_view kept = trimmed(prefix_of(text, longest));
    return std::string(kept) + (text.size() > longest ? " …" : "");
}

}  // namespace epilogue::agent
