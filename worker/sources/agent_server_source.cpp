#include "worker/sources/agent_server_source.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "agent/last_words.h"
#include "base/bounded_json.h"
#include "base/io/log.h"

namespace epilogue {
namespace {

using agent::AgentError;
using agent::EventRef;
using Json = nlohmann::json;

constexpr std::size_t max_told = 1000;  // servers

FinalMessageReply not_confirmed(std::string cause) {
    return {FinalMessageReply::Kind::not_confirmed, "", std::move(cause)};
}

/// The turn's part of the log: what comes after the event that opened it.
std::vector<EventRef> of_turn(const std::vector<EventRef>& log, const TurnKey& turn_key) {
    const auto opening =
        std::find_if(log.begin(), log.end(), [&](const EventRef& event) { return event->id == turn_key; });
    return {opening == log.end() ? log.begin() : std::next(opening), log.end()};
}

bool is_finish(const agent::RemoteEvent& event) {
    if (event.kind != "ActionEvent") return false;
    const Json action = parse_json(event.json);
    return action.is_object() && action.value("tool_name", Json()) == "finish";
}

/// Whether the agent said anything there, be it a finish that the server could not parse.
bool has_words(const std::vector<EventRef>& events) {
    return std::any_of(events.begin(), events.end(), [](const EventRef& event) {
        return event->source == "agent" && (event->kind == "MessageEvent" || is_finish(*event));
    });
}

auto newest_status(const std::vector<EventRef>& log) {
    return std::find_if(log.rbegin(), log.rend(), [](const EventRef& event) {
        return event->kind == "ConversationStateUpdateEvent" && event->key == "execution_status";
    });
}

bool ends_turn(std::string_view status) {
    return status == "finished" || status == "error" || status == "stuck";
}

std::string words_in(const std::vector<EventRef>& events) {
    agent::EventList list;
    list.reconcile(events);
    return agent::last_words(list).value_or("");
}

}  // namespace

FinalMessageReply reply_of(const AgentError& error) {
    using Kind = FinalMessageReply::Kind;
    switch (error.kind) {
        case AgentError::Kind::unreachable:
            return {Kind::unreachable, "", error.text};
        case AgentError::Kind::timed_out:
            return {Kind::late, "", error.text};
        case AgentError::Kind::closed:
            return {Kind::stopped, "", error.text};
        default:
            return {Kind::refused, "", error.text};
    }
}

bool may_have_server(const TurnEnd& turn) {
    const std::string_view event =
        turn.status_event.empty() ? std::string_view(turn.turn_key) : std::string_view(turn.status_event);
    return event.find_first_not_of("0123456789") != std::string_view::npos;
}

std::optional<FinalMessageReply> has_gone_on(const agent::ConversationCalls& calls,
                                             const FinalMessageQuery& query) {
    const auto log = calls.newest_events();
    if (!log) return reply_of(log.error());
    const auto newest = newest_status(*log);
    const bool stands = query.status_event.empty() ? newest == log->rend() || !ends_turn((*newest)->status)
                                                   : stands_at(*log, query.status_event);
    if (stands) return std::nullopt;
    return not_confirmed("its log goes on");
}

bool stands_at(const std::vector<EventRef>& log, const std::string& status_event) {
    const auto newest = newest_status(log);
    return newest != log.rend() && (*newest)->id == status_event;
}

FinalMessageReply last_words(const agent::ConversationCalls& calls, const FinalMessageQuery& query) {
    const auto info = calls.info();
    if (!info) return reply_of(info.error());
    if (const std::string status = agent::status_in(*info); status != "finished")
        return not_confirmed("its status is " + status);
    const auto response = calls.final_response();
    const bool is_offered = response || response.error().kind != AgentError::Kind::unsupported;
    if (is_offered && !response) return reply_of(response.error());
    FinalMessageReply confirmed;
    confirmed.kind = FinalMessageReply::Kind::confirmed;
    if (!is_offered && !query.lacks_words) return confirmed;
    // The log is read after the words: when it still ends with that turn, the words are that turn's.
    const auto log = is_offered ? calls.newest_events() : calls.events();
    if (!log) return reply_of(log.error());
    if (!stands_at(*log, query.status_event)) return not_confirmed("its log goes on");
    const auto events = of_turn(*log, query.turn.turn_key);
    if (!is_offered)
        confirmed.words = words_in(events);
    else if (has_words(events))
        confirmed.words = *response;
    return confirmed;
}

AgentServerSource::AgentServerSource(FindServer find_server)
    : AgentServerSource(
          std::move(find_server),
          [](const agent::ConversationCalls& calls, const FinalMessageQuery& query, const std::stop_token&) {
              return last_words(calls, query);
          },
          "an agent server did not tell its conversations' last words; the log's own are "
          "posted") {}

Result<std::string> AgentServerSource::server_of(const ConversationId& conversation_id) {
    const auto server = find_server_(conversation_id);
    if (!server && server.error().remedy != Remedy::poison) return Failure(server.error());
    return server && *server ? (*server)->address().url() : std::string();
}

FinalMessageReply AgentServerSource::ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                                         const std::stop_token& stop) {
    const auto until = agent::ConversationCalls::Clock::now() + within;
    const auto server = find_server_(query.turn.conversation_id);
    if (!server || !*server) {
        FinalMessageReply reply{FinalMessageReply::Kind::refused, "",
                                server ? "none is known" : server.error().text};
        tell("", reply);
        return reply;
    }
    agent::ConversationCalls calls(*server, query.turn.conversation_id, until);
    const std::stop_callback close(stop, [&] { calls.close(); });
    FinalMessageReply reply = question_(calls, query, stop);
    tell((*server)->address().url(), reply);
    return reply;
}

/// Logs a failure once for each server and kind, until the server has answered.
void AgentServerSource::tell(const std::string& address, const FinalMessageReply& reply) {
    using Kind = FinalMessageReply::Kind;
    const Kind kind = reply.kind;
    const bool answered = kind == Kind::confirmed || kind == Kind::not_confirmed;
    {
        const std::lock_guard lock(mutex_);
        if (answered) told_.erase(address);
        if (answered || kind == Kind::stopped) return;
        if (told_.size() >= max_told) told_.clear();
        const auto [told, is_first] = told_.try_emplace(address, kind);
        if (!is_first && std::exchange(told->second, kind) == kind) return;
    }
    log_warn(complaint_, {{"server", address}, {"why", reply.cause}});
}

}  // namespace epilogue
