#include "worker/history/history_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<Instant>& at) {
    return at ? Json(to_iso(*at)) : Json(nullptr);
}

Json value_of(const std::string& text) {
    return text;
}
Json value_of(int number) {
    return number;
}
Json value_of(Instant at) {
    return to_iso(at);
}
Json value_of(Verdict verdict) {
    return name_of(verdict);
}
Json value_of(const Reason& reason) {
    return {{"code", reason.code}, {"detail", reason.detail}};
}
Json value_of(const HistorySummary& summary) {
    return {{"state", name_of(summary.state)},      {"source", summary.source},
            {"headline", summary.summary.headline}, {"words", summary.summary.final_message},
            {"facts", summary.summary.facts},       {"link", summary.summary.link}};
}

template <class T>
Json json_of(const std::optional<Sourced<T>>& said) {
    if (!said) return nullptr;
    return {{"value", value_of(said->value)}, {"from", name_of(said->from)}};
}

Json or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json json_of(const SourceReport& report) {
    Json json{
        {"source", name_of(report.source)}, {"state", name_of(report.state)}, {"why", or_null(report.why)}};
    if (report.source == HistorySource::tables) return json;
    json["events"] = report.events;
    json["first_at"] = json_of(report.first_at);
    json["last_at"] = json_of(report.last_at);
    if (report.source != HistorySource::topic) return json;
    json["partitions"] = Json::array();
    for (const TopicLog::Part& part : report.parts)
        json["partitions"].push_back({{"partition_id", part.partition},
                                      {"from_offset", part.from},
                                      {"to_offset", part.to},
                                      {"end_offset", part.end}});
    return json;
}

Json json_of(const KeptCallback& callback) {
    return {{"id", callback.id.value},
            {"status", callback.status},
            {"phase", or_null(callback.phase)},
            {"processor_type", callback.processor_type},
            {"reason", or_null(callback.reason)},
            {"created_at", json_of(callback.created_at)}};
}

Json json_of(const KeptDelivery& delivery) {
    return {{"delivery_id", delivery.id.text()},
            {"callback_id", delivery.callback_id.value},
            {"sink", delivery.sink},
            {"target", delivery.target},
            {"verdict", name_of(delivery.verdict)},
            {"state", delivery.state},
            {"attempt", delivery.attempt},
            {"cause", or_null(delivery.cause)},
            {"remote_url", or_null(delivery.remote_url)},
            {"created_at", json_of(delivery.created_at)},
            {"sent_at", json_of(delivery.sent_at)}};
}

Json json_of(const std::optional<KeptQuestion>& question) {
    if (!question) return nullptr;
    return {{"why", question->why},
            {"attempts", question->attempts},
            {"hindrance", or_null(question->hindrance)},
            {"next_try_at", json_of(question->next_try_at)}};
}

Json json_of(const HistoryTurn& turn) {
    Json json{{"turn_key", turn.key.text()}, {"is_open", turn.is_open}, {"known_to", Json::array()}};
    for (const HistorySource source : turn.known_to) json["known_to"].push_back(name_of(source));
    json["verdict"] = json_of(turn.verdict);
    json["opened_at"] = json_of(turn.opened_at);
    json["ended_at"] = json_of(turn.ended_at);
    json["error"] = json_of(turn.reason);
    json["words"] = json_of(turn.words);
    json["summary"] = json_of(turn.summary);
    json["deliveries"] = Json::array();
    for (const KeptDelivery& delivery : turn.deliveries) json["deliveries"].push_back(json_of(delivery));
    return json;
}

}  // namespace

std::string to_json(const ConversationHistory& history) {
    Json json{{"conversation_id", history.id.text()},
              {"is_incomplete", history.is_incomplete()},
              {"sources", Json::array()},
              {"title", json_of(history.title)},
              {"status", json_of(history.status)},
              {"created_at", json_of(history.created_at)},
              {"updated_at", json_of(history.updated_at)},
              {"last_event_at", json_of(history.last_event_at)},
              {"partition_id", json_of(history.partition)},
              {"agent_url", json_of(history.agent_url)},
              {"question", json_of(history.question)},
              {"callbacks", Json::array()},
              {"turns", Json::array()}};
    for (const SourceReport& report : history.sources) json["sources"].push_back(json_of(report));
    for (const KeptCallback& callback : history.callbacks) json["callbacks"].push_back(json_of(callback));
    for (const HistoryTurn& turn : history.turns) json["turns"].push_back(json_of(turn));
    return json_indented(json);
}

}  // namespace epilogue
