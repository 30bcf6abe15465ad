// GapRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/gap_rows.h"

namespace epilogue {

class MysqlGapRows final : public GapRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlGapRows(MysqlSession& session) : session_(session) {}

    Result<void> insert(const GapRow& gap) override;
    Result<std::optional<GapRow>> lock_next() override;
    Result<GapChunk> next_chunk(const GapRow& gap, std::size_t limit) override;
    Result<std::int64_t> count_remaining(const GapRow& gap) override;
    Result<void> update(const GapRow& gap) override;

  private:
    MysqlSession& session_;
};

}  // namespace epilogue
