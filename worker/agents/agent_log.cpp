#include "worker/agents/agent_log.h"

#include <algorithm>

#include "agent/calls.h"
#include "base/enum_names.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"

namespace epilogue {
namespace {

constexpr EnumNames<LogReadError::Why, 6> why_names{
    {"no_server", "unusable", "unknown", "unauthorised", "unreachable", "failed"}};
static_assert(why_names.ends_with(LogReadError::Why::failed));

using Read = tl::expected<ServerLog, LogReadError>;

tl::unexpected<LogReadError> read_error(const agent::AgentError& error) {
    using Kind = agent::AgentError::Kind;
    switch (error.kind) {
        case Kind::not_found:
        case Kind::invalid:  // an id that is none of its own
            return tl::unexpected(LogReadError{LogReadError::Why::unknown, error.text});
        case Kind::unauthorised:
            return tl::unexpected(LogReadError{LogReadError::Why::unauthorised, error.text});
        case Kind::unreachable:
        case Kind::timed_out:
        case Kind::closed:
        case Kind::overloaded:
            return tl::unexpected(LogReadError{LogReadError::Why::unreachable, error.text});
        case Kind::busy:
        case Kind::unsupported:
        case Kind::server_error:
            break;
    }
    return tl::unexpected(LogReadError{LogReadError::Why::failed, error.text});
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
    if (!events) return read_error(events.error());
    // The status last: what it says of the log's end holds for all that was read before.
    const auto info = calls.info();
    if (!info) return read_error(info.error());
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

}  // namespace

std::string_view name_of(LogReadError::Why why) {
    return why_names.of(why);
}

ReadLog logs_of(AgentDirectory& directory) {
    return [&directory](const ConversationId& conversation_id, const std::stop_token& stop) -> Read {
        const auto server = directory.server_of(conversation_id);
        if (!server) {
            const bool is_poison = server.error().remedy == Remedy::poison;
            return tl::unexpected(LogReadError{
                is_poison ? LogReadError::Why::unusable : LogReadError::Why::failed, server.error().text});
        }
        if (!*server)
            return tl::unexpected(LogReadError{LogReadError::Why::no_server, "it has no agent server"});
        agent::ConversationCalls calls(*server, conversation_id);
        const std::stop_callback close(stop, [&] { calls.close(); });
        return read_once(calls);
    };
}

}  // namespace epilogue
