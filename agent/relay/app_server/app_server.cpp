#include "agent/relay/app_server/app_server.h"

#include <charconv>
#include <utility>

#include "agent/address.h"
#include "agent/event.h"
#include "agent/retry_after.h"
#include "schemas/json_reader.h"
#include "schemas/json_spans.h"

namespace epilogue::relay {
namespace {

const std::string listing = "/api/v1/app-conversations/search";

constexpr std::string_view page_size = "100";
constexpr std::size_t longest_page = std::size_t{64} << 20U;

/// A page as its parts are written.
struct Page {
    std::vector<std::string_view> items;
    std::string next_page_id;
};

std::optional<Page> page_in(std::string_view body) {
    const auto members = json_members(body);
    if (!members) return std::nullopt;
    std::optional<Page> page;
    std::string next;
    for (const JsonMember& member : *members) {
        if (member.name == "\"items\"") {
            const auto items = json_elements(member.value);
            if (!items) return std::nullopt;
            page.emplace().items = *items;
        } else if (member.name == "\"next_page_id\"" && member.value.starts_with('"')) {
            next = member.value.substr(1, member.value.size() - 2);
        }
    }
    if (page) page->next_page_id = std::move(next);
    return page;
}

/// The address of the agent server that "https://host/prefix/api/conversations/ID" is at; "": none.
std::string agent_url_of(std::string_view conversation_url) {
    const std::size_t end = conversation_url.find("/api/conversations/");
    if (end == std::string_view::npos) return "";
    std::string url(conversation_url.substr(0, end));
    if (!agent::parse_address(url)) url.clear();
    return url;
}

std::string query(std::string path, const std::vector<std::pair<std::string_view, std::string>>& parameters) {
    char separator = '?';
    for (const auto& [name, value] : parameters) {
        if (value.empty()) continue;
        path += separator + std::string(name) + "=" + agent::percent_encoded(value);
        separator = '&';
    }
    return path;
}

std::string log_of(const ConversationId& conversation, const char* tail) {
    return "/api/v1/conversation/" + agent::percent_encoded(conversation.text()) + "/events" + tail;
}

}  // namespace

Result<AppConversations> app_conversations_in(std::string_view body) {
    const auto page = page_in(body);
    if (!page) return retryable("the list of conversations is none");
    thread_local JsonReader json;
    static const WantedPart wanted{
        "", {{"id"}, {"updated_at"}, {"sandbox_status"}, {"conversation_url"}, {"session_api_key"}}};
    AppConversations conversations{{}, page->next_page_id};
    for (const std::string_view item : page->items) {
        const auto read = json.read(item, wanted);
        const std::string id(read ? (*read)["id"].string_or_empty() : "");
        if (id.empty() || id.size() > 255) return retryable("a conversation in the list is none");
        AppConversation& each = conversations.items.emplace_back();
        each.id = normalise_conversation_id(id);
        each.updated_at = (*read)["updated_at"].string_or_empty();
        if ((*read)["sandbox_status"].string_or_empty() != "RUNNING") continue;
        each.agent_url = agent_url_of((*read)["conversation_url"].string_or_empty());
        each.session_key = Secret(std::string((*read)["session_api_key"].string_or_empty()));
    }
    return conversations;
}

Result<AppEvents> app_events_in(std::string_view body) {
    const auto page = page_in(body);
    if (!page) return retryable("the page of a log is none");
    thread_local JsonReader json;
    static const WantedPart wanted{"", {{"id"}, {"timestamp"}, {"key"}, {"value"}}};
    AppEvents events{{}, page->next_page_id};
    for (const std::string_view item : page->items) {
        const auto read = json.read(item, wanted);
        if (!read) return retryable("an event in the page of a log is none");
        const bool ends_run = (*read)["key"].string() == "execution_status" &&
                              agent::ends_run((*read)["value"].string_or_empty());
        events.items.push_back({std::string((*read)["id"].string_or_empty()),
                                std::string((*read)["timestamp"].string_or_empty()), std::string(item),
                                ends_run});
    }
    return events;
}

Result<AppConversations> AppServer::conversations(const std::string& since, const std::string& page_id,
                                                  const std::stop_token& stop) const {
    TRY(const auto body, get(query(listing, {{"limit", std::string(page_size)},
                                             {"updated_at__gte", since},
                                             {"include_sub_conversations", "true"},
                                             {"page_id", page_id}}),
                             stop));
    return app_conversations_in(body);
}

Result<AppEvents> AppServer::events(const ConversationId& conversation, const std::string& since,
                                    const std::string& page_id, const std::stop_token& stop) const {
    TRY(const auto body, get(query(log_of(conversation, "/search"), {{"limit", std::string(page_size)},
                                                                     {"sort_order", "TIMESTAMP"},
                                                                     {"timestamp__gte", since},
                                                                     {"page_id", page_id}}),
                             stop));
    return app_events_in(body);
}

Result<std::int64_t> AppServer::count(const ConversationId& conversation, const std::stop_token& stop) const {
    TRY(const auto body, get(log_of(conversation, "/count"), stop));
    std::int64_t count = -1;
    std::from_chars(body.data(), body.data() + body.size(), count);
    if (count < 0) return retryable("the number of a log's events is none");
    return count;
}

HttpAnswer AppServer::answer_to_listing(const std::stop_token& stop) const {
    return send(query(listing, {{"limit", "1"}}), stop);
}

HttpAnswer AppServer::send(const std::string& path, const std::stop_token& stop) const {
    HttpRequest request;
    request.url = rules_.url + path;
    while (request.url.find("//api/v1/") != std::string::npos)
        request.url.erase(request.url.find("//api/v1/"), 1);
    request.headers = {"Accept: application/json"};
    if (!rules_.key.empty()) request.headers.push_back("Authorization: Bearer " + rules_.key.reveal());
    if (!rules_.org.empty()) request.headers.push_back("X-Org-Id: " + rules_.org);
    request.timeout = rules_.deadline;
    request.max_answer_bytes = longest_page;
    request.stop = stop;
    return http_.send(request);
}

Result<std::string> AppServer::get(const std::string& path, const std::stop_token& stop) const {
    auto answer = send(path, stop);
    if (answer.outcome != HttpOutcome::answered) return retryable(answer.cause);
    if (answer.status == 429 || answer.status == 503) retry_after_ = agent::retry_after_in(answer);
    if (answer.status == 401 || answer.status == 403)
        return retryable("it refuses the key (" + std::to_string(answer.status) + ")");
    if (answer.status != 200) return retryable("it answered " + std::to_string(answer.status));
    return std::move(answer.body);
}

}  // namespace epilogue::relay
