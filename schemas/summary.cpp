#include "schemas/summary.h"

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"

namespace epilogue {

std::string to_json(const Summary& summary) {
    nlohmann::ordered_json json{{"headline", summary.headline},
                                {"words", summary.final_message},
                                {"facts", summary.facts},
                                {"link", summary.link}};
    if (!summary.link_text.empty()) json["link_text"] = summary.link_text;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Summary> summary_from_json(std::string_view text) {
    const auto json = parse_json(text);
    if (!json.is_object()) return poisonous("summary: expected a JSON object");
    const auto part = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    return Summary{part("headline"), part("words"), part("facts"), part("link"), part("link_text")};
}

}  // namespace epilogue
