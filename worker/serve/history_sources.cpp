#include "worker/serve/history_sources.h"

#include "worker/mysql/kept_conversation.h"

namespace epilogue {
namespace {

SourceFault fault_of(const LogReadError& error) {
    switch (error.why) {
        case Hindrance::unknown:
        case Hindrance::not_begun:
            return {SourceState::unknown, error.text};
        case Hindrance::no_server:
            return {SourceState::not_asked, "no agent server is known of it"};
        case Hindrance::unusable:
        case Hindrance::unauthorised:
        case Hindrance::unreachable:
        case Hindrance::failed:
            break;
    }
    return {SourceState::unavailable, error.text};
}

}  // namespace

std::function<SourceAnswer<KeptConversation>(const ConversationId&)> history_in(MysqlStore& store) {
    return [&store](const ConversationId& id) -> SourceAnswer<KeptConversation> {
        auto kept = read_kept(store, id);
        if (!kept) {
            const std::string why = is_missing_table(kept.error())
                                        ? "the tables are older than this version needs: run epilogue migrate"
                                        : "the database is unavailable: " + kept.error().text;
            return tl::unexpected(SourceFault{SourceState::unavailable, why});
        }
        if (!*kept) return tl::unexpected(SourceFault{SourceState::unknown, "no table has it"});
        return std::move(**kept);
    };
}

std::function<SourceAnswer<ServerLog>(const ConversationId&)> history_at_servers(AgentDirectory& directory) {
    return [logs = logs_of(directory)](const ConversationId& id) -> SourceAnswer<ServerLog> {
        if (const auto hindered = logs.look(id, {})) return tl::unexpected(fault_of(*hindered));
        auto log = logs.read(id, {});
        if (!log) return tl::unexpected(fault_of(log.error()));
        return std::move(*log);
    };
}

std::function<SourceAnswer<TopicLog>(const ConversationId&, const TopicHint&)> history_in_topic(
    KafkaSettings settings, std::string topic, TopicLimits limits) {
    return [settings = std::move(settings), topic = std::move(topic), limits](const ConversationId& id,
                                                                              const TopicHint& hint) {
        return read_topic(settings, topic, id, hint, limits);
    };
}

}  // namespace epilogue
