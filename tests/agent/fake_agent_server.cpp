#include "tests/agent/fake_agent_server.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/event.h"
#include "agent/features.h"
#include "agent/last_words.h"
#include "base/json_text.h"
#include "tests/support/v1_events.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::ordered_json;
using fake_platform::Reply;
using fake_platform::Request;
using fake_platform::SocketPeer;

const std::string conversations_path = "/api/conversations";
const std::string session_path = "/sockets/session/";
constexpr unsigned short bad_key = 4001;
constexpr unsigned short no_such_conversation = 4004;

/// What the agent says last in the log.
std::string final_response(const std::vector<std::string>& log) {
    agent::EventList events;
    for (const std::string& json : log)
        if (auto event = agent::parse_event(json))
            events.add(std::make_shared<const agent::RemoteEvent>(std::move(*event)));
    return agent::last_words(events).value_or("the end");
}

std::string stamp_of(double seconds) {
    const int minutes = static_cast<int>(seconds) / 60;
    return fmt::format("2026-11-21T08:{:02}:{:09.6f}", minutes, seconds - 60 * minutes);
}

/// Of a session socket.
std::string durable_frame(std::size_t seq, const std::string& event) {
    return R"({"type":"durable","seq":)" + std::to_string(seq) + R"(,"event":)" + event + "}";
}

Reply failure(int status, const std::string& detail) {
    return fake_platform::json_reply(status, Json{{"detail", detail}}.dump());
}

Reply success() {
    return fake_platform::json_reply(200, R"({"success":true})");
}

}  // namespace

std::string state_event(const std::string& id, double seconds, const std::string& key,
                        const std::string& json_value) {
    return v1::state(id, stamp_of(seconds), key, json_value);
}

std::string status_event(const std::string& id, double seconds, const std::string& status) {
    return v1::status(id, stamp_of(seconds), status);
}

std::string message_event(const std::string& id, double seconds, const std::string& source,
                          const std::string& text) {
    const auto make = source == "agent" ? v1::agent_message : v1::user_message;
    return make(id, stamp_of(seconds), text);
}

std::string finish_event(const std::string& id, double seconds, const std::optional<std::string>& text) {
    return v1::finish_action(id, stamp_of(seconds), text);
}

std::string goal_event(const std::string& id, double seconds, bool goes_on) {
    const Json value{{"active", goes_on},
                     {"status", goes_on ? "running" : "complete"},
                     {"iteration", 1},
                     {"max_iterations", 5},
                     {"objective", "Make it work"}};
    return state_event(id, seconds, "goal", value.dump());
}

std::string stop_hook_event(const std::string& id, double seconds, bool blocked) {
    return Json{{"id", id},
                {"timestamp", stamp_of(seconds)},
                {"source", "hook"},
                {"hook_event_type", "Stop"},
                {"blocked", blocked},
                {"exit_code", blocked ? 2 : 0},
                {"hook_input", {{"reason", "agent_finished"}}},
                {"kind", "HookExecutionEvent"}}
        .dump();
}

std::string run_over(const std::string& id, double seconds, const std::string& status) {
    return state_event(id, seconds, "full_state", Json{{"execution_status", status}}.dump());
}

std::string error_event(const std::string& id, double seconds, const std::string& code,
                        const std::string& detail) {
    return v1::error_detail(id, stamp_of(seconds), code, detail);
}

FakeAgentServer::FakeAgentServer(std::string version, std::string key, unsigned short port)
    : version_(std::move(version)), key_(std::move(key)) {
    fake_platform::SocketHandlers sockets;
    sockets.refusal = [this](const Request& request) { return refusal(request); };
    sockets.opened = [this](const Request& request, const Shared& peer) { opened(request, peer); };
    sockets.received = [this](const Shared& peer, const std::string& frame) { received(peer, frame); };
    sockets.closed = [this](const Shared& peer) { closed(peer); };
    server_ = std::make_unique<fake_platform::HttpServer>(
        port, [this](const Request& request) { return wrapped(request); }, std::move(sockets));
}

FakeAgentServer::~FakeAgentServer() = default;

unsigned short FakeAgentServer::port() const {
    return server_->port();
}

std::string FakeAgentServer::url() const {
    return "http://127.0.0.1:" + std::to_string(port());
}

std::shared_ptr<agent::AgentServer> FakeAgentServer::client(std::optional<std::string> key,
                                                            agent::Deadlines deadlines) const {
    return std::make_shared<agent::AgentServer>(agent::parse_address(url()).value(),
                                                Secret(key.value_or(key_)), deadlines);
}

void FakeAgentServer::add(const std::string& id, std::vector<std::string> log, const std::string& status) {
    const std::lock_guard lock(mutex_);
    conversations_[id] = {std::move(log), status, {}, {}, "{}"};
}

void FakeAgentServer::describe(const std::string& id, const std::string& fields) {
    const std::lock_guard lock(mutex_);
    conversations_.at(id).more = fields;
}

void FakeAgentServer::append(const std::string& id, const std::string& event) {
    const std::lock_guard lock(mutex_);
    Conversation& conversation = conversations_.at(id);
    conversation.log.push_back(event);
    if (const auto parsed = agent::parse_event(event); parsed && !parsed->status.empty())
        conversation.status = parsed->status;
}

void FakeAgentServer::emit(const std::string& id, const std::string& event) {
    append(id, event);
    const std::lock_guard lock(mutex_);
    const Conversation& conversation = conversations_.at(id);
    for (const Shared& peer : conversation.peers) peer->send(event);
    const auto frame = durable_frame(conversation.log.size() - 1, event);
    for (const Shared& peer : conversation.session_peers) peer->send(frame);
}

void FakeAgentServer::tell(const std::string& id, const std::string& frame) {
    const std::lock_guard lock(mutex_);
    for (const Shared& peer : conversations_.at(id).peers) peer->send(frame);
    for (const Shared& peer : conversations_.at(id).session_peers)
        peer->send(R"({"type":"transient","event":)" + frame + "}");
}

void FakeAgentServer::set_status(const std::string& id, const std::string& status) {
    const std::lock_guard lock(mutex_);
    conversations_.at(id).status = status;
}

std::vector<std::string> FakeAgentServer::log(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    return conversations_.at(id).log;
}

void FakeAgentServer::on(const std::string& what, Handler handler) {
    const std::lock_guard lock(mutex_);
    if (handler)
        handlers_[what] = std::move(handler);
    else
        handlers_.erase(what);
}

void FakeAgentServer::wrap(Wrapper wrapper) {
    const std::lock_guard lock(mutex_);
    wrapper_ = std::move(wrapper);
}

void FakeAgentServer::on_run(std::function<void(const std::string&)> handler) {
    const std::lock_guard lock(mutex_);
    on_run_ = std::move(handler);
}

void FakeAgentServer::on_socket(std::function<bool(const std::string&, SocketPeer&)> handler) {
    const std::lock_guard lock(mutex_);
    on_socket_ = std::move(handler);
}

void FakeAgentServer::refuse_sockets(int status) {
    const std::lock_guard lock(mutex_);
    refuse_sockets_ = status;
}

void FakeAgentServer::end_sockets(const std::function<void(SocketPeer&)>& how) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, conversation] : conversations_) {
        for (auto* peers : {&conversation.peers, &conversation.session_peers}) {
            for (const Shared& peer : *peers) how(*peer);
            peers->clear();
        }
    }
}

std::size_t FakeAgentServer::sockets(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    return conversations_.at(id).peers.size() + conversations_.at(id).session_peers.size();
}

std::vector<std::string> FakeAgentServer::seen() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    for (const auto& [line, body] : seen_) lines.push_back(line);
    return lines;
}

std::vector<std::string> FakeAgentServer::bodies(const std::string& what) const {
    const std::string method = what.substr(0, what.find(' ') + 1);
    const std::string tail = what.substr(method.size());
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [line, body] : seen_)
        if (line.starts_with(method) && line.ends_with(tail)) found.push_back(body);
    return found;
}

bool FakeAgentServer::is_key(const Request& request) const {
    return key_.empty() || fake_platform::header_of(request, "x-session-api-key") == key_;
}

std::string FakeAgentServer::info(const std::string& id, const Conversation& conversation) const {
    Json fields{{"id", id},
                {"execution_status", conversation.status},
                {"confirmation_policy", {{"kind", "NeverConfirm"}}},
                {"activated_knowledge_skills", {"a skill"}},
                {"workspace", {{"kind", "LocalWorkspace"}, {"working_dir", "w"}}},
                {"persistence_dir", "p"},
                {"stats", Json::object()},
                {"title", "a title"}};
    fields.update(Json::parse(conversation.more));
    return fields.dump();
}

Reply FakeAgentServer::wrapped(const Request& request) {
    Wrapper wrapper;
    {
        const std::lock_guard lock(mutex_);
        wrapper = wrapper_;
    }
    return wrapper ? wrapper(request, [&] { return answer(request); }) : answer(request);
}

Reply FakeAgentServer::answer(const Request& request) {
    const std::string line = request.method + " " + request.path;
    Handler handler;
    {
        const std::lock_guard lock(mutex_);
        seen_.emplace_back(line + (request.query.empty() ? "" : "?" + request.query), request.body);
        for (const auto& [what, each] : handlers_) {
            const std::size_t blank = what.find(' ');
            if (request.method == what.substr(0, blank) && request.path.ends_with(what.substr(blank + 1)))
                handler = each;
        }
    }
    if (handler) return handler(request);
    if (request.path == "/server_info")
        return fake_platform::json_reply(200, Json{{"uptime", 1.0}, {"version", version_}}.dump());
    if (!request.path.starts_with(conversations_path)) return failure(404, "Not Found");
    if (!is_key(request)) return failure(401, "Unauthorized");
    const std::string rest = request.path.substr(conversations_path.size());
    if (rest.empty()) {
        const std::string id = Json::parse(request.body).at("conversation_id").get<std::string>();
        const std::lock_guard lock(mutex_);
        const bool fresh = conversations_.emplace(id, Conversation{{}, "idle", {}, {}, "{}"}).second;
        return fake_platform::json_reply(fresh ? 201 : 200, info(id, conversations_.at(id)));
    }
    if (rest == "/search") {
        const std::lock_guard lock(mutex_);
        Json items = Json::array();
        for (const auto& [id, each] : conversations_) items.push_back(Json::parse(info(id, each)));
        return fake_platform::json_reply(200, Json{{"items", items}, {"next_page_id", nullptr}}.dump());
    }
    const std::size_t slash = rest.find('/', 1);
    return answer_conversation(request, rest.substr(1, slash - 1),
                               slash == std::string::npos ? "" : rest.substr(slash));
}

Reply FakeAgentServer::answer_conversation(const Request& request, const std::string& id,
                                           const std::string& tail) {
    std::function<void(const std::string&)> on_run;
    {
        const std::lock_guard lock(mutex_);
        const auto found = conversations_.find(id);
        if (found == conversations_.end()) return failure(404, "Conversation not found: " + id);
        const Conversation& conversation = found->second;
        if (request.method == "GET" && tail.empty())
            return fake_platform::json_reply(200, info(id, conversation));
        if (tail == "/events/count")
            return fake_platform::json_reply(200, std::to_string(conversation.log.size()));
        if (tail == "/events/search") return page(conversation, request);
        if (tail == "/agent_final_response")
            return fake_platform::json_reply(200,
                                             Json{{"response", final_response(conversation.log)}}.dump());
        if (tail == "/ask_agent") return fake_platform::json_reply(200, R"({"response":"an answer"})");
        if (tail == "/generate_title") return fake_platform::json_reply(200, R"({"title":"made up"})");
        if (tail == "/run") on_run = on_run_;
        if (request.method == "DELETE") conversations_.erase(found);
    }
    if (on_run) on_run(id);
    return success();
}

Reply FakeAgentServer::page(const Conversation& conversation, const Request& request) const {
    const auto parameters = fake_platform::parameters_of(request.query);
    const auto limit = static_cast<std::size_t>(fake_platform::positive_of(parameters, "limit", 100));
    const auto page_id = parameters.find("page_id");
    std::vector<Json> events;
    for (const std::string& text : conversation.log) events.push_back(Json::parse(text));
    std::stable_sort(events.begin(), events.end(), [](const Json& a, const Json& b) {
        return a.value("timestamp", "") < b.value("timestamp", "");
    });
    const auto order = parameters.find("sort_order");
    if (order != parameters.end() && order->second == "TIMESTAMP_DESC")
        std::reverse(events.begin(), events.end());
    auto at = events.begin();
    if (page_id != parameters.end()) {  // an unknown one begins again, as the real ones do
        at = std::find_if(events.begin(), events.end(),
                          [&](const Json& event) { return event.value("id", "") == page_id->second; });
        if (at == events.end()) at = events.begin();
    }
    Json answer{{"items", Json::array()}, {"next_page_id", nullptr}};
    for (; at != events.end() && answer["items"].size() < limit; ++at) answer["items"].push_back(*at);
    if (at != events.end()) answer["next_page_id"] = (*at)["id"];
    return fake_platform::json_reply(200, json_line(answer));
}

int FakeAgentServer::refusal(const Request& request) {
    const std::lock_guard lock(mutex_);
    seen_.emplace_back("SOCKET " + request.path + (request.query.empty() ? "" : "?" + request.query), "");
    if (refuse_sockets_ != 0) return refuse_sockets_;
    const auto auth = agent::features_of(version_).socket_auth;
    const auto parameters = fake_platform::parameters_of(request.query);
    const auto query_key = parameters.find("session_api_key");
    if (query_key != parameters.end()) return query_key->second == key_ ? 0 : 403;
    if (request.headers.contains("x-session-api-key"))
        return auth != agent::SocketAuth::query && is_key(request) ? 0 : 403;
    return key_.empty() || auth == agent::SocketAuth::first_frame ? 0 : 403;
}

void FakeAgentServer::opened(const Request& request, const Shared& peer) {
    const std::string id = request.path.substr(request.path.rfind('/') + 1);
    const auto parameters = fake_platform::parameters_of(request.query);
    const bool proven = key_.empty() || parameters.contains("session_api_key") || is_key(request);
    Wanted wanted{id, std::nullopt};
    if (request.path.starts_with(session_path)) wanted.after = std::stoll(parameters.at("after_seq"));
    if (proven) {
        subscribe(wanted, peer);
        return;
    }
    const std::lock_guard lock(mutex_);
    unproven_[peer] = wanted;
}

void FakeAgentServer::received(const Shared& peer, const std::string& frame) {
    Wanted wanted;
    {
        const std::lock_guard lock(mutex_);
        seen_.emplace_back("FRAME", frame);
        const auto found = unproven_.find(peer);
        if (found == unproven_.end()) return;
        wanted = found->second;
        unproven_.erase(found);
    }
    const Json auth = Json::parse(frame, nullptr, false);
    if (auth.is_object() && auth.value("type", "") == "auth" && auth.value("session_api_key", "") == key_)
        subscribe(wanted, peer);
    else
        peer->close(bad_key);
}

void FakeAgentServer::subscribe(const Wanted& wanted, const Shared& peer) {
    const std::lock_guard lock(mutex_);
    const std::string& id = wanted.id;
    const auto found = conversations_.find(id);
    if (found == conversations_.end()) {
        peer->close(no_such_conversation);
        return;
    }
    (wanted.after ? found->second.session_peers : found->second.peers).push_back(peer);
    if (on_socket_ && !on_socket_(id, *peer)) return;
    Json frame = Json::parse(state_event("full-" + std::to_string(seen_.size()), 0, "full_state",
                                         Json{{"execution_status", found->second.status}}.dump()));
    if (!found->second.log.empty())
        frame["timestamp"] = Json::parse(found->second.log.back()).value("timestamp", "");
    if (!wanted.after) {
        peer->send(frame.dump());
        return;
    }
    const auto& log = found->second.log;
    Json sync{{"type", "sync"}, {"from_seq", *wanted.after}};
    if (!log.empty()) sync["through_seq"] = log.size() - 1;
    peer->send(sync.dump());
    for (auto i = static_cast<std::size_t>(std::max(*wanted.after + 1, std::int64_t{0})); i < log.size(); ++i)
        peer->send(durable_frame(i, log[i]));
    peer->send(Json{{"type", "transient"}, {"event", frame}}.dump());
}

void FakeAgentServer::closed(const Shared& peer) {
    const std::lock_guard lock(mutex_);
    unproven_.erase(peer);
    for (auto& [id, conversation] : conversations_) {
        std::erase(conversation.peers, peer);
        std::erase(conversation.session_peers, peer);
    }
}

}  // namespace epilogue::testing
