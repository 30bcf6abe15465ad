#include "worker/agents/agent_log.h"

#include <algorithm>
#include <array>

#include "base/redacted.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"
#include "schemas/stop_hook.h"

namespace epilogue {
namespace {

using Read = tl::expected<ServerLog, LogReadError>;

constexpr std::size_t longest_cause = 300;

/// What a gateway says in the place of a server that it cannot reach, or that does not answer it.
bool is_a_gateways(int status) {
    constexpr std::array<int, 3> statuses{502, 503, 504};
    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

/// The server's own words stand behind ours: they may be anything.
LogReadError read_error(const agent::AgentServer& server, const agent::AgentError& error) {
    using Kind = agent::AgentError::Kind;
    const auto made = [&](Hindrance why, const char* what) {
        return LogReadError{why,
                            "the agent server at " + server.address().url() + " " + what + " (" +
                                redacted_prefix(error.text, longest_cause) + ")",
                            error.retry_after};
    };
    switch (error.kind) {
        case Kind::not_found:
        case Kind::invalid:  // an id that the server never gave out
            return made(Hindrance::unknown, "knows no such conversation");
        case Kind::unauthorised:
            return made(Hindrance::unauthorised, "refuses the session key");
        case Kind::unreachable:
        case Kind::timed_out:
        case Kind::closed:
            return made(Hindrance::unreachable, "does not answer");
        case Kind::overloaded:
            return made(Hindrance::unreachable, "has no room");
        case Kind::busy:
        case Kind::unsupported:
        case Kind::server_error:
            break;
    }
    if (is_a_gateways(error.status)) return made(Hindrance::unreachable, "does not answer its gateway");
    return made(Hindrance::failed, "cannot read the conversation's log");
}

/// Less than a reconciler's lease: pages may go on for ever.
constexpr std::chrono::seconds log_patience{90};

/// What the server's information says beside the status: its times, which are UTC, and its hooks.
void take_information(const std::string& info, ServerLog& log) {
    static const WantedPart wanted{
        "", {{"created_at"}, {"updated_at"}, {"title"}, {"hook_config", {wanted_of_stop_hooks()}}}};
    JsonReader reader;
    const auto told = reader.read(info, wanted);
    if (!told) return;
    log.has_stop_hook = has_stop_hook((*told)["hook_config"]);
    log.title = (*told)["title"].string_or_empty();
    log.created_at = parse_instant((*told)["created_at"].string_or_empty());
    log.updated_at = parse_instant((*told)["updated_at"].string_or_empty());
    correct_times(log, log.created_at, log.updated_at);
}

Read read_once(const agent::ConversationCalls& calls) {
    const auto events = calls.events(agent::ConversationCalls::Clock::now() + log_patience);
    if (!events) return tl::unexpected(read_error(calls.server(), events.error()));
    // The status last: what it says of the log's end holds for all that was read before.
    const auto info = calls.info();
    if (!info) return tl::unexpected(read_error(calls.server(), info.error()));
    ServerLog log;
    log.status = agent::status_in(*info);
    Decoder decoder;
    for (const auto& each : *events) {
        Decoded decoded = decoder.decode(each->json);
        if (auto* event = std::get_if<Event>(&decoded)) log.events.push_back(std::move(*event));
    }
    take_information(*info, log);
    return log;
}

/// The calls of a conversation at its server.
tl::expected<std::shared_ptr<agent::ConversationCalls>, LogReadError> calls_of(
    AgentDirectory& directory, const ConversationId& conversation_id) {
    const auto server = directory.server_of(conversation_id);
    if (!server) {
        const bool is_poison = server.error().remedy == Remedy::poison;
        return tl::unexpected(
            LogReadError{is_poison ? Hindrance::unusable : Hindrance::failed, server.error().text});
    }
    if (!*server)
        return tl::unexpected(LogReadError{Hindrance::no_server, "the conversation has no agent server"});
    return std::make_shared<agent::ConversationCalls>(*server, conversation_id);
}

Read read_log(AgentDirectory& directory, const ConversationId& conversation_id, const std::stop_token& stop) {
    const auto calls = calls_of(directory, conversation_id);
    if (!calls) return tl::unexpected(calls.error());
    const std::stop_callback close(stop, [&] { (*calls)->close(); });
    return read_once(**calls);
}

std::optional<LogReadError> inspect_log(AgentDirectory& directory, const ConversationId& conversation_id,
                                        const std::stop_token& stop) {
    constexpr std::chrono::seconds short_look{3};
    const auto calls = calls_of(directory, conversation_id);
    if (!calls) return calls.error();
    const std::stop_callback close(stop, [&] { (*calls)->close(); });
    return look_once(**calls,
                     std::min<std::chrono::milliseconds>(short_look, (*calls)->server().deadlines().call));
}

}  // namespace

AgentLogSource logs_of(AgentDirectory& directory) {
    return {[&directory](const ConversationId& id, const std::stop_token& stop) {
                return read_log(directory, id, stop);
            },
            [&directory](const ConversationId& id) { return directory.address_of(id); },
            [&directory](const ConversationId& id, const std::stop_token& stop) {
                return inspect_log(directory, id, stop);
            }};
}

std::optional<LogReadError> look_once(const agent::ConversationCalls& calls,
                                      std::chrono::milliseconds within) {
    const auto info = calls.info(within);
    if (info) return std::nullopt;
    return read_error(calls.server(), info.error());
}

}  // namespace epilogue
