// Positions in memory, of conversations that are followed from their first event until they have caught up,
// and then no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "agent/relay/positions.h"

namespace epilogue::relay {

/// For one follower, which has FollowRules::until_caught_up.
class OncePositions final : public Positions {
  public:
    struct Progress {
        std::size_t conversations = 0;
        std::size_t over = 0;
        std::int64_t behind = 0;  ///< events that servers have and the topic has not, as far as it is known
        std::string trouble{};    ///< of one that is not over
        std::vector<std::string> failures{};  ///< of those that are over: why they could not be followed
    };

    OncePositions(const std::vector<ConversationId>& conversations, const std::string& server,
                  const Secret& session_key);

    /// How far it is now. Thread-safe.
    Progress progress() const;

    Result<Discovered> discover() override { return Discovered{}; }
    Result<std::vector<Claim>> claim(const std::string& owner, std::size_t limit,
                                     std::chrono::seconds lease) override;
    Result<std::vector<HeldClaim>> renew(const std::string& owner,
                                         const std::vector<ConversationId>& followed,
                                         std::chrono::seconds lease) override;
    Result<std::vector<ConversationId>> advance(const std::string& owner,
                                                const std::vector<PositionUpdate>& updates) override;
    Result<bool> release(const std::string& owner, const PositionUpdate& last,
                         std::chrono::seconds pause) override;

  private:
    struct Row {
        bool is_claimed = false;
        bool is_over = false;
        std::int64_t behind = 0;
        std::string trouble{};
    };

    const std::string server_;
    const Secret session_key_;
    mutable std::mutex mutex_;
    std::map<ConversationId, Row> rows_;
};

}  // namespace epilogue::relay
