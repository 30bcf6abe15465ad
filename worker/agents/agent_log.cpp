#include "worker/agents/agent_log.h"

#include <algorithm>

#include "base/redacted.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"

namespace epilogue {
namespace {

using Read = tl::expected<ServerLog, LogReadError>;

constexpr std::size_t longest_cause = 300;

/// The server's own words stand behind ours: they may be anything.
LogReadError read_error(const agent::AgentServer& server, const agent::AgentError& error) {
    using Kind = agent::AgentError::Kind;
    const auto made = [&](Hindrance why, const char* what) {
        return LogReadError{why, "the agent server at " + server.address().url() + " " + what + " (" +
                                     redacted_prefix(error.text, longest_cause) + ")"};
    };
    switch (error.kind) {
        case Kind::not_found:
        case Kind::invalid:  // an id that is none of its own
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
    return made(Hindrance::failed, "cannot read the conversation's log");
}

/// Less than a reconciler's lease: pages may go on for ever.
constexpr std::chrono::seconds log_patience{90};

/// What the server's information says beside the status: its times, which are UTC, and its hooks.
void take_information(const std::string& info, ServerLog& log) {
    static const WantedPart wanted{
        "", {{"created_at"}, {"updated_at"}, {"hook_config", {{"stop", {{"hooks"}}}}}}};
    JsonReader reader;
    const auto told = reader.read(info, wanted);
    if (!told) return;
    const auto& stop_hooks = (*told)["hook_config"]["stop"].parts;
    log.has_stop_hook = std::any_of(stop_hooks.begin(), stop_hooks.end(),
                                    [](const JsonPart& matcher) { return matcher["hooks"].is_given(); });
    correct_times(log, parse_instant((*told)["created_at"].string_or_empty()),
                  parse_instant((*told)["updated_at"].string_or_empty()));
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

Read read_log(AgentDirectory& directory, const ConversationId& conversation_id, const std::stop_token& stop) {
    const auto server = directory.server_of(conversation_id);
    if (!server) {
        const bool is_poison = server.error().remedy == Remedy::poison;
        return tl::unexpected(
            LogReadError{is_poison ? Hindrance::unusable : Hindrance::failed, server.error().text});
    }
    if (!*server)
        return tl::unexpected(LogReadError{Hindrance::no_server, "the conversation has no agent server"});
    agent::ConversationCalls calls(*server, conversation_id);
    const std::stop_callback close(stop, [&] { calls.close(); });
    return read_once(calls);
}

}  // namespace

AgentLogSource logs_of(AgentDirectory& directory) {
    return {[&directory](const ConversationId& id, const std::stop_token& stop) {
                return read_log(directory, id, stop);
            },
            [&directory](const ConversationId& id) { return directory.address_of(id); }};
}

std::optional<LogReadError> look_once(const agent::ConversationCalls& calls,
                                      std::chrono::milliseconds within) {
    const auto info = calls.info(within);
    if (info) return std::nullopt;
    return read_error(calls.server(), info.error());
}

}  // namespace epilogue
