// PartitionRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/partition_rows.h"

namespace epilogue {

class MysqlPartitionRows final : public PartitionRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlPartitionRows(MysqlSession& session) : session_(session) {}

    Result<std::optional<PartitionRow>> lock(const PartitionKey& key) override;
    Result<std::optional<PartitionRow>> read(const PartitionKey& key) override;
    Result<void> update(const PartitionKey& key, const PartitionRow& row) override;
    Result<std::optional<int>> first_count(const std::string& topic) override;
    Result<int> known_count(const std::string& topic) override;

  private:
    Result<std::optional<PartitionRow>> partition_row(const PartitionKey& key, const std::string& lock);

    MysqlSession& session_;
};

}  // namespace epilogue
