// ImportedRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/imported_rows.h"

namespace epilogue {

class MysqlImportedRows final : public ImportedRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlImportedRows(MysqlSession& session) : session_(session) {}

    Result<std::vector<ImportedRow>> find(const UpstreamTable& table,
                                          const std::vector<std::string>& row_ids) override;
    Result<std::vector<std::string>> present(const UpstreamTable& table, const std::string& after,
                                             std::size_t limit) override;
    Result<std::size_t> insert(const UpstreamTable& table, const std::vector<NewImport>& rows) override;
    Result<void> update(const UpstreamTable& table, const ImportedRow& row) override;
    Result<bool> lock_active(CallbackId id) override;
    Result<void> replace_processor(CallbackId id, const std::string& processor_json) override;
    Result<void> complete_unadopted(CallbackId id) override;

  private:
    Result<void> insert_callbacks(const UpstreamTable& table, const std::vector<const NewImport*>& rows);

    MysqlSession& session_;
};

}  // namespace epilogue
