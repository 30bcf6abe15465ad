#include "worker/sources/told_log.h"

#include <algorithm>
#include <array>
#include <variant>

#include "base/redacted.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"
#include "schemas/stop_hook.h"

namespace epilogue {
namespace {

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

}  // namespace

tl::expected<std::vector<agent::EventRef>, LogReadError> told_events(
    const agent::ConversationCalls& calls, agent::ConversationCalls::Clock::time_point until) {
    auto events = calls.events(until);
    if (!events) return tl::unexpected(read_error(calls.server(), events.error()));
    return *std::move(events);
}

tl::expected<ServerLog, LogReadError> told_log(const agent::ConversationCalls& calls,
                                               agent::ConversationCalls::Clock::time_point until) {
    const auto events = told_events(calls, until);
    if (!events) return tl::unexpected(events.error());
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

std::optional<LogReadError> look_once(const agent::ConversationCalls& calls,
                                      std::chrono::milliseconds within) {
    const auto info = calls.info(within);
    if (info) return std::nullopt;
    return read_error(calls.server(), info.error());
}

}  // namespace epilogue
