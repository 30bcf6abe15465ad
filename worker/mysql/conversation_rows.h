// ConversationRows over one MySQL session.
#pragma once

#include "base/ids.h"
#include "base/io/mysql.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {

struct FoundConversation {
    Conversation conversation;
    std::optional<int> partition;  ///< none: no record of it was read
};
/// A conversation as it was last committed; nullopt when there is no row of it. Locks nothing. Errors: the
/// database's; poison when the row cannot be read.
Result<std::optional<FoundConversation>> find_conversation(MysqlSession& session, const ConversationId& id);

class MysqlConversationRows final : public ConversationRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlConversationRows(MysqlSession& session) : session_(session) {}

    Result<std::vector<StoredConversation>> lock(const std::vector<ConversationId>& ids,
                                                 int partition) override;
    Result<Conversation> lock_one(const ConversationId& id) override;
    Result<std::optional<int>> partition_of(const ConversationId& id) override;
    Result<void> note_guess(const ConversationId& id) override;
    Result<void> update(const std::vector<StoredConversation>& rows) override;
    Result<std::vector<ConversationId>> due(int partition, Instant clock, std::size_t limit) override;
    Result<std::vector<ConversationId>> suspended(int partition, std::size_t limit) override;
    Result<InactivityCensus> inactivity_census(Instant from, Instant to, Instant resumed_since) override;
    Result<std::optional<Instant>> next_due(int partition) override;

  private:
    Result<std::vector<ConversationId>> ids_where(const std::string& condition,
                                                  const std::vector<SqlValue>& values, std::size_t limit);

    MysqlSession& session_;
};

}  // namespace epilogue
