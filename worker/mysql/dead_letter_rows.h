// DeadLetterRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/dead_letter_rows.h"

namespace epilogue {

class MysqlDeadLetterRows final : public DeadLetterRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlDeadLetterRows(MysqlSession& session) : session_(session) {}

    Result<void> insert(const std::vector<DeadLetterRow>& rows) override;
    Result<std::optional<DeadLetterRow>> lock(std::int64_t id) override;
    Result<void> mark_replayed(std::int64_t id) override;

  private:
    MysqlSession& session_;
};

}  // namespace epilogue
