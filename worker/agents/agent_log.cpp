#include "worker/agents/agent_log.h"

#include <algorithm>

namespace epilogue {
namespace {

using Read = tl::expected<ServerLog, LogReadError>;

/// Less than a reconciler's lease: pages may go on for ever.
constexpr std::chrono::seconds log_patience{90};

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
    return told_log(**calls, agent::ConversationCalls::Clock::now() + log_patience);
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

}  // namespace epilogue
