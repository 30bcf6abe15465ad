// Where a conversation's history is had from in an installation: its database, the agent server that has the
// conversation, and its topic.
#pragma once

#include <string>

#include "base/io/kafka.h"
#include "worker/agents/agent_directory.h"
#include "worker/agents/agent_log.h"
#include "worker/history/history.h"
#include "worker/history/topic_log.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

/// Our tables. `store` has to outlive the result.
std::function<SourceAnswer<KeptConversation>(const ConversationId&)> history_in(MysqlStore& store);

/// Its agent server. One that does not answer a short look is not asked for its log. `directory` has to
/// outlive the result.
std::function<SourceAnswer<ServerLog>(const ConversationId&)> history_at_servers(AgentDirectory& directory);

/// The topic.
std::function<SourceAnswer<TopicLog>(const ConversationId&, const TopicHint&)> history_in_topic(
    KafkaSettings settings, std::string topic, TopicLimits limits);

}  // namespace epilogue
