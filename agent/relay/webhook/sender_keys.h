// The keys under which agent servers post: who sends, and whose a conversation is. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/relay/conversation_owners.h"
#include "base/secret.h"

namespace epilogue::relay {

/// What is kept of a key. With a purpose of its own: equal to no digest that is kept elsewhere.
KeyDigest digest_of_key(std::string_view key);

/// One who was let in, by a key of theirs.
struct Sender {
    std::size_t number = 0;  ///< in [relay] keys
    KeyDigest key;           ///< the digest of the key that came
};

enum class Ownership {
    own,        ///< it belongs to the key that came
    inherited,  ///< to an older key of the same sender, or to one that is configured no more: handed over
    others,     ///< to another sender
};

class SenderKeys {
  public:
    /// One entry a sender: its keys, separated by blanks, so that a new one is taken before the old one goes.
    explicit SenderKeys(const std::vector<Secret>& entries);

    bool empty() const { return senders_.empty(); }
    /// Whose key that is; nullopt when it is none of ours. Takes as long whatever is offered.
    std::optional<Sender> sender_of(std::string_view offered) const;
    /// Whether `sender` may tell of a conversation that belongs to `owner`.
    Ownership ownership(const Sender& sender, const KeyDigest& owner) const;

  private:
    std::vector<std::vector<KeyDigest>> senders_;
};

}  // namespace epilogue::relay
