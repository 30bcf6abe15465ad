#include "agent/answers.h"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/address.h"
#include "base/bounded_json.h"

namespace epilogue::agent {

AgentFailure senseless(std::string_view what, std::string_view body) {
    std::string text = "the agent server's answer makes no sense: " + std::string(what);
    if (const auto objection = json_objection(body); !objection.empty())
        text += " (" + std::string(objection) + ")";
    return agent_failure(AgentError::Kind::server_error, std::move(text));
}

std::string page_query(int limit, const std::string& page_id) {
    std::string query = "?limit=" + std::to_string(limit);
    if (!page_id.empty()) query += "&page_id=" + percent_encoded(page_id);
    return query;
}

AgentResult<Json> page_in(const AgentResult<Answer>& answer) {
    if (!answer) return AgentFailure(answer.error());
    Json page = parse_ordered_json(answer->body);
    if (!page.is_object() || !page.contains("items") || !page["items"].is_array())
        return senseless("a page without items", answer->body);
    return page;
}

AgentResult<LogPage> log_page_in(const AgentResult<Answer>& answer) {
    const auto json = page_in(answer);
    if (!json) return AgentFailure(json.error());
    LogPage page;
    for (const Json& item : (*json)["items"])
        if (auto event = parse_event(text_of(item))) page.events.push_back(std::move(*event));
    page.next_page_id = string_in(*json, "next_page_id");
    return page;
}

AgentResult<std::size_t> count_in(const AgentResult<Answer>& answer) {
    if (!answer) return AgentFailure(answer.error());
    std::size_t count = 0;
    const char* const end = answer->body.data() + answer->body.size();
    if (std::from_chars(answer->body.data(), end, count).ec != std::errc()) return senseless("no count");
    return count;
}

}  // namespace epilogue::agent
