// ConversationRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {

class MysqlConversationRows final : public ConversationRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlConversationRows(MysqlSession& session) : session_(session) {}

    Result<std::vector<StoredConversation>> lock(const std::vector<std::string>& ids, int partition) override;
    Result<Conversation> lock_one(const std::string& id) override;
    Result<std::optional<int>> partition_of(const std::string& id) override;
    Result<void> update(const std::vector<StoredConversation>& rows) override;
    Result<std::vector<std::string>> due(int partition, Instant clock, std::size_t limit) override;
    Result<std::vector<std::string>> suspended(int partition, std::size_t limit) override;
    Result<InactivityCensus> inactivity_census(Instant from, Instant to, Instant resumed_since) override;
    Result<std::optional<Instant>> next_due(int partition) override;

  private:
    Result<std::vector<std::string>> ids_where(const std::string& condition,
                                               const std::vector<SqlValue>& values, std::size_t limit);

    MysqlSession& session_;
};

}  // namespace epilogue
