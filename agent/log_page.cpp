#include "agent/log_page.h"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"

namespace epilogue::agent {
namespace {

std::string path_of(const std::string& conversation_id, const char* tail) {
    return "/api/conversations/" + percent_encoded(conversation_id) + tail;
}

AgentFailure senseless(const char* what) {
    return agent_failure(AgentError::Kind::server_error,
                         std::string("the agent server's answer makes no sense: ") + what);
}

AgentResult<LogPage> page_in(const AgentResult<Answer>& answer) {
    if (!answer) return AgentFailure(answer.error());
    const Json json = parse_ordered_json(answer->body);
    if (!json.is_object() || !json.contains("items") || !json["items"].is_array())
        return senseless("a page without items");
    LogPage page;
    for (const Json& item : json["items"])
        if (auto event = parse_event(text_of(item))) page.events.push_back(std::move(*event));
    page.next_page_id = string_in(json, "next_page_id");
    return page;
}

}  // namespace

AgentResult<LogPage> read_log_page(const AgentServer& server, const std::string& conversation_id,
                                   const std::string& page_id, bool newest_first,
                                   const std::stop_token& stop) {
    std::string path = path_of(conversation_id, "/events/search?limit=100");
    if (!page_id.empty()) path += "&page_id=" + percent_encoded(page_id);
    if (newest_first) path += "&sort_order=TIMESTAMP_DESC";
    return server.logs().pass<AgentResult<LogPage>>(
        conversation_id, [&] { return page_in(server.send({.path = path, .stop = stop})); });
}

AgentResult<std::int64_t> count_log(const AgentServer& server, const std::string& conversation_id,
                                    const std::stop_token& stop) {
    const auto answer = server.send({.path = path_of(conversation_id, "/events/count"), .stop = stop});
    if (!answer) return AgentFailure(answer.error());
    std::int64_t count = 0;
    const char* const end = answer->body.data() + answer->body.size();
    if (std::from_chars(answer->body.data(), end, count).ec != std::errc()) return senseless("no count");
    return count;
}

}  // namespace epilogue::agent
