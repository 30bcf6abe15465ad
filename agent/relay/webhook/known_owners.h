// Whose conversations are, remembered: the store is asked once for each conversation, on threads of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "agent/relay/conversation_owners.h"
#include "agent/relay/webhook/sender_keys.h"
#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

/// Thread-safe.
class KnownOwners {
  public:
    /// Those of the conversations that belong to another sender; or why that is not known just now.
    using Checked = std::function<void(Result<std::set<ConversationId>>)>;

    /// `owners` and `keys` outlive it.
    KnownOwners(ConversationOwners& owners, const SenderKeys& keys);
    /// What is still to be asked is answered with an error.
    ~KnownOwners();
    KnownOwners(const KnownOwners&) = delete;
    KnownOwners& operator=(const KnownOwners&) = delete;

    /// Calls `then` once: at once when all of them are known, else on a thread of its own when the store has
    /// answered. A conversation that belongs to no sender yet is the sender's from then on.
    void check(const Sender& sender, const std::vector<ConversationId>& conversations, Checked then);

  private:
    struct OwnerQuery {
        Sender sender;
        std::vector<ConversationId> conversations;
        Checked then;
    };
    /// Of which so many are remembered at least.
    static constexpr std::size_t remembered = 50'000;

    std::optional<KeyDigest> known(const ConversationId& conversation) const;
    void remember(const ConversationId& conversation, const KeyDigest& owner);
    std::optional<std::set<ConversationId>> from_memory(const OwnerQuery& question) const;
    Result<std::set<ConversationId>> from_store(const OwnerQuery& question);
    void run(const std::stop_token& stop);

    ConversationOwners& owners_;
    const SenderKeys& keys_;
    mutable std::mutex mutex_;
    std::condition_variable_any asked_;
    std::deque<OwnerQuery> questions_;
    std::unordered_map<ConversationId, KeyDigest> newer_;
    std::unordered_map<ConversationId, KeyDigest> older_;  ///< forgotten when `newer_` is full
    std::vector<std::jthread> threads_;
};

}  // namespace epilogue::relay
