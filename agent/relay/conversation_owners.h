// Whose a conversation is: the port to where that is kept for good.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

/// A sender's key, as it may be kept: a digest.
using KeyDigest = std::string;

/// Blocking, thread-safe. Errors: the store's, retryable.
class ConversationOwners {
  public:
    ConversationOwners() = default;
    ConversationOwners(const ConversationOwners&) = delete;
    ConversationOwners& operator=(const ConversationOwners&) = delete;
    virtual ~ConversationOwners() = default;

    /// Gives the conversations that belong to no key yet to `key`, for good, and returns the key of each.
    /// Of two that ask at the same time one is first, for both.
    virtual Result<std::map<ConversationId, KeyDigest>> claim(
        const std::vector<ConversationId>& conversations, const KeyDigest& key) = 0;
    /// Gives a conversation that belongs to `from` to `to`; one that belongs to another key by now stays as
    /// it is.
    virtual Result<void> hand_over(const ConversationId& conversation, const KeyDigest& from,
                                   const KeyDigest& to) = 0;
};

}  // namespace epilogue::relay
