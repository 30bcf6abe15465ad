#include "worker/core/held_event.h"

#include <utility>

#include "base/redacted.h"

namespace epilogue {
namespace {

struct BodyWriter {
    JsonWriter& json;
    void operator()(const UserMessage& message) const {
        json.text("kind", "user");
        if (!message.origin.empty()) json.text("text", message.origin);
    }
    void operator()(const AgentAction&) const { json.text("kind", "action"); }
    void operator()(const AgentMessage& message) const {
        json.text("kind", message.kind == MessageKind::finish ? "finish" : "message");
        json.text("text", redacted_words(message.text, max_message_bytes));
    }
    void operator()(const StatusChange& change) const {
        json.text("kind", "status");
        json.text("text", change.status);
    }
    void operator()(const ErrorDetail& error) const {
        json.text("kind", "error");
        json.text("text", redacted_prefix(error.code, max_message_bytes));
        json.text("detail", redacted_prefix(error.detail, max_message_bytes));
        if (!error.kind.empty()) json.text("error_kind", redacted_prefix(error.kind, max_message_bytes));
    }
    void operator()(const GoalUpdate& goal) const {
        json.text("kind", "goal");
        json.text("text", goal.outcome);
        json.flag("flag", goal.active);
        json.number("rounds", goal.rounds);
        json.number("max_rounds", goal.max_rounds);
    }
    void operator()(const StopHookVerdict& verdict) const {
        json.text("kind", "hook");
        json.flag("flag", verdict.is_denied);
    }
    void operator()(const RunOver&) const { json.text("kind", "activity"); }
    void operator()(const Activity&) const { json.text("kind", "activity"); }
};

Body body_of(const JsonPart& json) {
    const std::string_view kind = json["kind"].string_or_empty();
    std::string text(json["text"].string_or_empty());
    if (kind == "user") return UserMessage{std::move(text)};
    if (kind == "action") return AgentAction{};
    if (kind == "finish") return AgentMessage{MessageKind::finish, std::move(text)};
    if (kind == "message") return AgentMessage{MessageKind::message, std::move(text)};
    if (kind == "status") return StatusChange{std::move(text), ""};
    if (kind == "error")
        return ErrorDetail{std::move(text), std::string(json["detail"].string_or_empty()),
                           std::string(json["error_kind"].string_or_empty())};
    if (kind == "goal")
        return GoalUpdate{json["flag"].is_true(), std::move(text), json["rounds"].integer().value_or(0),
                          json["max_rounds"].integer().value_or(0)};
    if (kind == "hook") return StopHookVerdict{json["flag"].is_true()};
    return Activity{};
}

Instant instant(const JsonPart& json) {
    return Instant{Micros{json.integer().value_or(0)}};
}

}  // namespace

const std::vector<WantedPart>& wanted_of_held_event() {
    static const std::vector<WantedPart> wanted{{"id"},         {"own"},       {"at"},   {"kind"},
                                                {"text"},       {"detail"},    {"flag"}, {"rounds"},
                                                {"max_rounds"}, {"error_kind"}};
    return wanted;
}

void write(JsonWriter& json, const HeldEvent& held) {
    json.begin_object();
    json.text("id", held.event.id);
    json.number("own", held.event.timestamp.value_or(Instant{}).time_since_epoch().count());
    json.number("at", held.at.time_since_epoch().count());
    std::visit(BodyWriter{json}, held.event.body);
    json.end_object();
}

HeldEvent read_held_event(const JsonPart& json) {
    HeldEvent held;
    held.event.id = json["id"].string_or_empty();
    held.event.timestamp = instant(json["own"]);
    held.event.body = body_of(json);
    held.at = instant(json["at"]);
    return held;
}

}  // namespace epilogue
