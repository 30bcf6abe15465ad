#include "schemas/summary.h"

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/json_text.h"

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> number_in(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

Json json_of(const TurnOutcome& about) {
    Json json{{"conversation", about.conversation_id},
              {"turn", about.turn},
              {"verdict", about.verdict},
              {"outcome", about.outcome},
              {"steps", about.steps}};
    if (!about.error_code.empty()) json["error_code"] = about.error_code;
    if (!about.requests.empty()) json["requests"] = about.requests;
    const auto put = [&](const char* name, const std::optional<std::int64_t>& number) {
        if (number) json[name] = *number;
    };
    put("seconds", about.seconds);
    put("tokens_in", about.tokens_in);
    put("tokens_out", about.tokens_out);
    put("cost", about.cost);
    return json;
}

TurnOutcome outcome_in(const nlohmann::json& json) {
    TurnOutcome about;
    if (!json.is_object()) return about;
    about.conversation_id = text_in(json, "conversation");
    about.turn = text_in(json, "turn");
    about.verdict = text_in(json, "verdict");
    about.outcome = text_in(json, "outcome");
    about.error_code = text_in(json, "error_code");
    if (const auto requests = json.find("requests"); requests != json.end() && requests->is_array())
        for (const auto& each : *requests)
            if (each.is_string()) about.requests.push_back(each.get<std::string>());
    about.steps = number_in(json, "steps").value_or(0);
    about.seconds = number_in(json, "seconds");
    about.tokens_in = number_in(json, "tokens_in");
    about.tokens_out = number_in(json, "tokens_out");
    about.cost = number_in(json, "cost");
    return about;
}

}  // namespace

std::string to_json(const Summary& summary) {
    Json json{{"headline", summary.headline},
              {"words", summary.final_message},
              {"facts", summary.facts},
              {"link", summary.link}};
    if (!summary.link_text.empty()) json["link_text"] = summary.link_text;
    if (summary.about != TurnOutcome{}) json["about"] = json_of(summary.about);
    return json_line(json);
}

Result<Summary> summary_from_json(std::string_view text) {
    const auto json = parse_json(text);
    if (!json.is_object()) return poisonous("summary: expected a JSON object");
    const auto part = [&](const char* name) { return text_in(json, name); };
    const auto about = json.find("about");
    return Summary{part("headline"),  part("words"),
                   part("facts"),     part("link"),
                   part("link_text"), about == json.end() ? TurnOutcome{} : outcome_in(*about)};
}

}  // namespace epilogue
