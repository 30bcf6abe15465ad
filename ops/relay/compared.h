// Compares what webhooks brought with the logs of agent servers, and brings what is missing: a follower that
// releases each conversation as soon as it has all of its log, and produces only what no webhook has brought.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "agent/relay/follow/follower.h"
#include "agent/relay/topic_record.h"
#include "agent/relay/webhook/comparisons.h"
#include "agent/relay/webhook/webhook_door.h"
#include "base/config.h"
#include "worker/mysql/relay_position_rows.h"

namespace epilogue {

struct ComparedWithLogsRules {
    relay::ComparisonRules comparisons{};
    relay::FollowRules follow;
    std::function<void(const relay::MissingEvents&)> missing = [](const auto&) {};  ///< for metrics
    std::function<void(const relay::FollowState&)> state = [](const auto&) {};      ///< for metrics
};

class ComparedWithLogs {
  public:
    /// Begins at once, with the conversations that webhooks told of lately. `positions` and `topic` outlive
    /// it.
    ComparedWithLogs(MysqlRelayPositions& positions, relay::Topic& topic, relay::TopicRecords records,
                     std::function<std::size_t()> max_event_bytes, ComparedWithLogsRules rules);
    ~ComparedWithLogs();

    /// A webhook brought that, and the topic has it. Thread-safe.
    void came(const relay::CameEvent& event);
    /// A webhook brings an end: calls `go_on`, see relay::Comparisons. Thread-safe.
    void before_end(const ConversationId& conversation, std::function<void()> go_on);
    /// Ends, and releases everything.
    void stop();

  private:
    class Positions;

    const ComparedWithLogsRules rules_;
    relay::Comparisons comparisons_;
    std::unique_ptr<Positions> positions_;
    std::unique_ptr<relay::Follower> follower_;
    std::jthread counting_;
};

/// Rules of a follower that compares.
relay::FollowRules rules_to_compare(relay::FollowRules rules);

}  // namespace epilogue
