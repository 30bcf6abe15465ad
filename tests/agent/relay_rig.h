// What a follower needs besides agent servers, in memory: a topic and positions, which outlive it as the real
// ones do.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/relay/follow/follower.h"
#include "agent/relay/positions.h"
#include "agent/relay/topic.h"

namespace epilogue::testing {

/// Thread-safe.
class MemoryTopic final : public relay::Topic {
  public:
    struct Kept {
        std::string conversation_id;
        std::string id;  ///< the event's
        std::string value;
        std::optional<std::int64_t> seq;
        bool run_over = false;
    };

    MemoryTopic();
    ~MemoryTopic() override;

    bool produce(relay::TopicRecord record, Settled settled) override;
    void when_room(std::function<void()> listener) override;

    /// While it is away nothing is acknowledged, and after `room` records nothing is taken.
    void go_away(std::size_t room);
    void come_back();
    /// Gives up the next `count` records instead of keeping them.
    void give_up(int count);

    std::vector<Kept> records(const std::string& conversation_id) const;
    /// Ids of the conversation's events in the order in which each came first, without ends of runs.
    std::vector<std::string> first_ids(const std::string& conversation_id) const;
    std::size_t size() const;
    std::size_t waiting() const;  ///< taken, and not acknowledged

  private:
    struct Sent {
        relay::TopicRecord record;
        Settled settled;
    };

    void run(const std::stop_token& stop);

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Sent> sent_;
    std::vector<std::function<void()>> listeners_;
    std::vector<Kept> kept_;
    bool away_ = false;
    std::size_t room_ = 10'000;
    int give_up_ = 0;
    std::jthread thread_;
};

/// Thread-safe. Leases run by the steady clock.
class MemoryPositions final : public relay::Positions {
  public:
    Result<relay::Discovered> discover() override { return relay::Discovered{}; }
    Result<std::vector<relay::Claim>> claim(const std::string& owner, std::size_t limit,
                                            std::chrono::seconds lease) override;
    Result<void> end_leases(const std::string& owner) override;
    Result<std::vector<relay::HeldClaim>> renew(const std::string& owner,
                                                const std::vector<ConversationId>& followed,
                                                std::chrono::seconds lease) override;
    Result<std::vector<ConversationId>> advance(const std::string& owner,
                                                const std::vector<relay::PositionUpdate>& updates) override;
    void fenced(const ConversationId& conversation) override;
    Result<bool> release(const std::string& owner, const relay::PositionUpdate& last,
                         std::chrono::seconds pause) override;

    /// A callback waits for it from now on, and its server is that one; position and lease stay as they are.
    /// Or none waits any more, and all of it is forgotten.
    void want(const std::string& conversation_id, const std::string& server, const std::string& key);
    void unwant(const std::string& conversation_id);
    /// Another relay has it from now on.
    void take_away(const std::string& conversation_id);
    /// It is on that server from now on.
    void move(const std::string& conversation_id, const std::string& server);
    /// All leases end now: as after a kill, some time later.
    void end_leases();

    relay::LogPosition position(const std::string& conversation_id) const;
    std::string trouble(const std::string& conversation_id) const;
    /// How often it was claimed.
    std::int64_t generation(const std::string& conversation_id) const;
    /// What the follower told besides: "fenced ID", "moved ID".
    std::vector<std::string> told() const;

  private:
    using Clock = std::chrono::steady_clock;
    struct Row {
        relay::Claim claim;
        std::string owner;
        Clock::time_point lease_until{};
        std::string trouble;
    };

    Row* ours(const std::string& owner, const relay::PositionUpdate& update);

    mutable std::mutex mutex_;
    std::map<std::string, Row> rows_;
    std::vector<std::string> told_;
};

/// The record as the relay makes it, but for trimming.
std::optional<relay::TopicRecord> plain_record(const relay::FollowedEvent& event);

/// Rules with short pauses.
relay::FollowRules quick_rules();

}  // namespace epilogue::testing
