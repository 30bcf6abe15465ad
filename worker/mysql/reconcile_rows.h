// ReconcileRows over one MySQL session.
#pragma once

#include "base/ids.h"
#include "base/io/mysql.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {

class MysqlReconcileRows final : public ReconcileRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlReconcileRows(MysqlSession& session) : session_(session) {}

    Result<void> request(const ReconcileRow& row) override;
    Result<std::vector<DueReconcile>> due(const std::optional<DueReconcile>& after,
                                          std::size_t limit) override;
    Result<std::optional<ReconcileRow>> lock(const ConversationId& conversation_id) override;
    Result<void> update(const ReconcileRow& row) override;
    Result<void> remove(const ConversationId& conversation_id) override;
    Result<std::size_t> not_begun(ReconcileReason why, std::size_t limit) override;

  private:
    MysqlSession& session_;
};

}  // namespace epilogue
