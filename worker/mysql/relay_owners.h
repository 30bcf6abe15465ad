// ConversationOwners over MySQL: rows of relay_owners.
#pragma once

#include <map>
#include <vector>

#include "agent/relay/conversation_owners.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

class MysqlRelayOwners final : public relay::ConversationOwners {
  public:
    /// `store` has to outlive it.
    explicit MysqlRelayOwners(MysqlStore& store) : store_(store) {}

    Result<std::map<ConversationId, relay::KeyDigest>> claim(const std::vector<ConversationId>& conversations,
                                                             const relay::KeyDigest& key) override;
    Result<void> hand_over(const ConversationId& conversation, const relay::KeyDigest& from,
                           const relay::KeyDigest& to) override;

  private:
    MysqlStore& store_;
};

}  // namespace epilogue
