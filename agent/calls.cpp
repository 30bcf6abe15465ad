#include "agent/calls.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/answers.h"
#include "agent/json.h"
#include "base/bounded_json.h"
#include "base/ids.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

constexpr std::size_t max_log_bytes = std::size_t{1} << 30U;
constexpr int short_page = 25;  // often all that is asked for
constexpr int page_size = 100;  // more is refused, by old servers with a 500
const std::string conversations = "/api/conversations";
/// A server that does not know a page's id begins again at the start.
constexpr std::string_view circle = "pages that go in a circle";

AgentFailure too_late() {
    return agent_failure(AgentError::Kind::timed_out, "the time for this conversation's calls is over");
}

AgentResult<void> without_body(const AgentResult<Answer>& answer) {
    if (!answer) return AgentFailure(answer.error());
    return {};
}

/// The JSON that a caller on this side wrote.
AgentResult<Json> own_json(std::string_view text, std::string_view what) {
    Json json = parse_ordered_json(text);
    if (json.is_discarded()) {
        const auto objection = json_objection(text);
        return agent_failure(
            AgentError::Kind::invalid,
            std::string(what) + " is " + std::string(objection.empty() ? "no JSON" : objection));
    }
    return json;
}

/// JSON has no room for other bytes: they would be replaced without an error.
AgentResult<void> require_utf8(std::string_view text, std::string_view what) {
    if (is_utf8(text)) return {};
    return agent_failure(AgentError::Kind::invalid, std::string(what) + " is not valid UTF-8");
}

}  // namespace

AgentResult<std::string> create_conversation(const AgentServer& server, std::string_view request) {
    auto body = own_json(request, "the request");
    if (!body) return AgentFailure(body.error());
    if (!body->is_object()) return agent_failure(AgentError::Kind::invalid, "the request is no JSON object");
    if (string_in(*body, "conversation_id").empty()) (*body)["conversation_id"] = random_uuid();
    auto answer = server.send(
        {.method = "POST", .path = conversations, .body = text_of(*body), .repeat = Repeat::once});
    if (!answer) return AgentFailure(answer.error());
    if (string_in(parse_ordered_json(answer->body), "id").empty())
        return senseless("a new conversation without an id", answer->body);
    return std::move(answer->body);
}

AgentResult<ConversationPage> list_conversations(const AgentServer& server, int limit,
                                                 const std::string& status, const std::string& page_id) {
    const std::string filter = status.empty() ? "" : "&status=" + percent_encoded(status);
    auto page =
        page_in(server.send({.path = conversations + "/search" + page_query(limit, page_id) + filter}));
    if (!page) return AgentFailure(page.error());
    ConversationPage result;
    for (const Json& item : (*page)["items"]) result.items.push_back(text_of(item));
    result.next_page_id = string_in(*page, "next_page_id");
    return result;
}

AgentResult<ConversationIds> list_conversation_ids(const AgentServer& server, int limit,
                                                   const std::string& page_id, const std::stop_token& stop) {
    auto page =
        page_in(server.send({.path = conversations + "/search" + page_query(limit, page_id), .stop = stop}));
    if (!page) return AgentFailure(page.error());
    ConversationIds result;
    for (const Json& item : (*page)["items"])
        if (auto id = string_in(item, "id"); !id.empty()) result.ids.push_back(std::move(id));
    result.next_page_id = string_in(*page, "next_page_id");
    return result;
}

std::string status_in(std::string_view info) {
    return string_in(parse_ordered_json(info), "execution_status");
}

ConversationCalls::ConversationCalls(std::shared_ptr<const AgentServer> server, std::string id,
                                     Clock::time_point until)
    : server_(std::move(server)),
      id_(std::move(id)),
      path_(conversations + "/" + percent_encoded(id_)),
      until_(until) {}

std::chrono::milliseconds ConversationCalls::deadline_of(std::chrono::milliseconds wanted) const {
    const bool says = wanted > std::chrono::milliseconds(0);
    if (until_ == Clock::time_point::max()) return says ? wanted : server_->deadlines().call;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
    return says ? std::min(wanted, left) : left;
}

AgentResult<Answer> ConversationCalls::send(Call call) const {
    if (closing_.stop_requested())
        return agent_failure(AgentError::Kind::closed, "the conversation was closed");
    call.path = path_ + call.path;
    call.stop = closing_.get_token();
    call.deadline = deadline_of(call.deadline);
    if (call.deadline <= std::chrono::milliseconds(0)) return too_late();
    auto answer = server_->send(call);
    if (answer || call.method == "GET") return answer;
    // Old servers answer 400 or 500 for a conversation that is not there.
    const auto kind = answer.error().kind;
    if (kind != AgentError::Kind::invalid && kind != AgentError::Kind::server_error) return answer;
    const auto there = info();
    if (!there && there.error().kind == AgentError::Kind::not_found) return AgentFailure(there.error());
    return answer;
}

AgentResult<void> ConversationCalls::post(std::string_view tail, std::string body, Repeat repeat) const {
    return without_body(
        send({.method = "POST", .path = std::string(tail), .body = std::move(body), .repeat = repeat}));
}

AgentResult<std::string> ConversationCalls::text_of_answer(Call call, const char* member) const {
    const auto answer = send(std::move(call));
    if (!answer) return AgentFailure(answer.error());
    const Json json = parse_ordered_json(answer->body);
    if (!json.is_object() || !json.contains(member))
        return senseless(std::string("no ") + member, answer->body);
    return string_in(json, member);
}

AgentResult<void> ConversationCalls::require(bool Features::*feature, std::string_view operation) const {
    const auto left = deadline_of({});
    if (left <= std::chrono::milliseconds(0)) return too_late();
    const auto features = server_->features(left, closing_.get_token());
    if (!features) return AgentFailure(features.error());
    if ((*features).*feature) return {};
    return agent_failure(AgentError::Kind::unsupported,
                         "agent server " +
                             (features->version.empty() ? "of unknown version" : features->version) +
                             " does not offer " + std::string(operation));
}

AgentResult<std::string> ConversationCalls::info(std::chrono::milliseconds deadline) const {
    auto answer = send({.deadline = deadline});
    if (!answer) return AgentFailure(answer.error());
    if (!parse_ordered_json(answer->body).is_object()) return senseless("no conversation", answer->body);
    return std::move(answer->body);
}

AgentResult<std::size_t> ConversationCalls::event_count(std::chrono::milliseconds deadline) const {
    return count_in(send({.path = "/events/count", .deadline = deadline}));
}

AgentResult<LogPage> ConversationCalls::page_back(int size, const std::string& page_id) const {
    return server_->logs().pass<AgentResult<LogPage>>(id_, [&] {
        return log_page_in(
            send({.path = "/events/search" + page_query(size, page_id) + "&sort_order=TIMESTAMP_DESC"}));
    });
}

AgentResult<std::vector<EventRef>> ConversationCalls::newest_events() const {
    auto page = page_back(page_size, "");
    if (!page) return AgentFailure(page.error());
    std::vector<EventRef> events;
    for (auto event = page->events.rbegin(); event != page->events.rend(); ++event)
        events.push_back(std::make_shared<RemoteEvent>(std::move(*event)));
    return events;
}

AgentResult<void> ConversationCalls::read_back(
    Clock::time_point until, const std::function<bool(const RemoteEvent&)>& wants_more) const {
    std::unordered_set<std::string> seen;
    std::string page_id;
    int size = short_page;
    do {
        if (Clock::now() >= until) return too_late();
        const auto page = page_back(size, page_id);
        size = page_size;
        if (!page) return AgentFailure(page.error());
        for (const RemoteEvent& event : page->events)
            if (!wants_more(event)) return {};
        page_id = page->next_page_id;
        if (!seen.insert(page_id).second) return senseless(circle);
    } while (!page_id.empty());
    return {};
}

AgentResult<std::vector<EventRef>> ConversationCalls::events(Clock::time_point until) const {
    return server_->logs().pass<AgentResult<std::vector<EventRef>>>(id_, [&] { return read_log(until, ""); });
}

AgentResult<std::vector<EventRef>> ConversationCalls::events_from(const std::string& first) const {
    return server_->logs().pass<AgentResult<std::vector<EventRef>>>(
        id_, [&] { return read_log(Clock::time_point::max(), first); });
}

AgentResult<std::vector<EventRef>> ConversationCalls::read_log(Clock::time_point until,
                                                               std::string page_id) const {
    std::vector<EventRef> log;
    std::unordered_set<std::string> seen;
    std::size_t bytes = 0;
    do {
        if (Clock::now() >= until) return too_late();
        auto page = log_page_in(send({.path = "/events/search" + page_query(page_size, page_id)}));
        if (!page) return AgentFailure(page.error());
        for (RemoteEvent& event : page->events) {
            bytes += event.json.size();
            log.push_back(std::make_shared<RemoteEvent>(std::move(event)));
        }
        if (bytes > max_log_bytes) return senseless("a log of more than 1 GiB");
        page_id = page->next_page_id;
        if (!seen.insert(page_id).second) return senseless(circle);
    } while (!page_id.empty());
    return log;
}

AgentResult<void> ConversationCalls::send_message(std::string_view text, bool run) const {
    if (const auto checked = require_utf8(text, "the message"); !checked) return checked;
    Json message = {{"role", "user"}};
    message["content"] = Json::array({{{"type", "text"}, {"text", std::string(text)}}});
    return send_message_json(text_of(message), run);
}

AgentResult<void> ConversationCalls::send_message_json(std::string_view message, bool run) const {
    auto body = own_json(message, "the message");
    if (!body) return AgentFailure(body.error());
    if (string_in(*body, "role") != "user")
        return agent_failure(AgentError::Kind::invalid, "only messages of the user can be sent");
    (*body)["run"] = run;
    auto sent = post("/events", text_of(*body), Repeat::never);
    if (!sent && run && sent.error().kind == AgentError::Kind::overloaded) {
        // The server keeps the message before it looks for room for the run; newer ones say so.
        AgentError& error = sent.error();
        const bool says_so = error.text.find("Message saved") != std::string::npos;
        error.text = std::string("the run did not begin; the message itself ") + (says_so ? "is" : "may be") +
                     " saved: do not send it again, but let the agent run later (" + error.text + ")";
        error.maybe_done = true;
    }
    return sent;
}

AgentResult<void> ConversationCalls::run(std::chrono::milliseconds deadline) const {
    return without_body(send({.method = "POST", .path = "/run", .deadline = deadline}));
}

AgentResult<void> ConversationCalls::pause() const {
    return post("/pause", "", Repeat::once);
}

AgentResult<void> ConversationCalls::interrupt() const {
    if (const auto offered = require(&Features::interrupt, "interrupt; use pause"); !offered) return offered;
    return post("/interrupt", "", Repeat::once);
}

AgentResult<void> ConversationCalls::respond(bool accept, std::string_view reason) const {
    if (const auto checked = require_utf8(reason, "the reason"); !checked) return checked;
    Json body = {{"accept", accept}};
    if (!reason.empty()) body["reason"] = std::string(reason);
    return post("/events/respond_to_confirmation", text_of(body), Repeat::never);
}

AgentResult<void> ConversationCalls::set_confirmation_policy(std::string_view policy) const {
    const auto json = own_json(policy, "the policy");
    if (!json) return AgentFailure(json.error());
    return post("/confirmation_policy", text_of({{"policy", *json}}), Repeat::once);
}

AgentResult<void> ConversationCalls::set_security_analyzer(std::string_view analyzer) const {
    const auto json = own_json(analyzer, "the analyzer");
    if (!json) return AgentFailure(json.error());
    return post("/security_analyzer", text_of({{"security_analyzer", *json}}), Repeat::once);
}

AgentResult<void> ConversationCalls::update_secrets(
    const std::vector<std::pair<std::string, Secret>>& secrets) const {
    Json values = Json::object();
    for (const auto& [name, value] : secrets) {
        if (const auto checked = require_utf8(name, "a secret's name"); !checked) return checked;
        if (const auto checked = require_utf8(value.reveal(), "the secret " + name); !checked) return checked;
        values[name] = Json{{"kind", "StaticSecret"}, {"value", value.reveal()}};
    }
    return post("/secrets", text_of({{"secrets", values}}), Repeat::once);
}

AgentResult<std::string> ConversationCalls::ask_agent(std::string_view question) const {
    if (const auto checked = require_utf8(question, "the question"); !checked)
        return AgentFailure(checked.error());
    return text_of_answer({.method = "POST",
                           .path = "/ask_agent",
                           .body = text_of({{"question", std::string(question)}}),
                           .deadline = server_->deadlines().llm,
                           .changes = false},
                          "response");
}

AgentResult<std::string> ConversationCalls::generate_title(int max_length, std::string_view llm) const {
    if (const auto offered = require(&Features::generate_title, "generate_title"); !offered)
        return AgentFailure(offered.error());
    const auto json = own_json(llm.empty() ? "null" : llm, "the LLM");
    if (!json) return AgentFailure(json.error());
    return text_of_answer({.method = "POST",
                           .path = "/generate_title",
                           .body = text_of({{"max_length", max_length}, {"llm", *json}}),
                           .deadline = server_->deadlines().llm,
                           .changes = false},
                          "title");
}

AgentResult<void> ConversationCalls::set_title(std::string_view title) const {
    if (const auto checked = require_utf8(title, "the title"); !checked) return checked;
    const auto answer =
        send({.method = "PATCH", .body = text_of({{"title", std::string(title)}}), .repeat = Repeat::once});
    if (!answer) return AgentFailure(answer.error());
    const Json json = parse_ordered_json(answer->body);
    if (json.is_object() && json.value("success", true)) return {};
    return agent_failure(AgentError::Kind::not_found, "the agent server knows no conversation " + id_);
}

AgentResult<void> ConversationCalls::condense() const {
    return without_body(send({.method = "POST", .path = "/condense", .deadline = server_->deadlines().llm}));
}

AgentResult<std::string> ConversationCalls::final_response() const {
    if (const auto offered = require(&Features::final_response, "agent_final_response"); !offered)
        return AgentFailure(offered.error());
    return text_of_answer({.path = "/agent_final_response"}, "response");
}

AgentResult<void> ConversationCalls::remove() const {
    return without_body(send({.method = "DELETE", .repeat = Repeat::once}));
}

}  // namespace epilogue::agent
