// CredentialRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

class MysqlCredentialRows final : public CredentialRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlCredentialRows(MysqlSession& session) : session_(session) {}

    Result<CredentialRow> read(const std::string& credential) override;
    Result<CredentialRow> lock(const std::string& credential) override;
    Result<void> update(const std::string& credential, const CredentialRow& row) override;
    Result<std::vector<std::string>> unsettled(std::size_t limit) override;
    Result<std::vector<std::string>> to_probe(std::size_t limit) override;
    Result<std::vector<DownCredential>> down(std::size_t limit) override;
    Result<std::vector<DueDelivery>> held_posts(const std::string& credential, const std::string& look_queue,
                                                bool newest, std::size_t limit) override;
    Result<std::optional<DueDelivery>> oldest_parked(const std::string& credential) override;
    Result<ParkedBatch> park(const std::string& credential, const std::string& cause,
                             std::size_t limit) override;
    Result<ParkedBatch> release(const std::string& credential, std::size_t limit) override;

  private:
    Result<CredentialRow> credential(const std::string& name, const char* lock);
    /// An UPDATE of deliveries, as SQL.
    struct Change {
        std::string condition;         ///< behind WHERE: which ones
        std::string assignments;       ///< behind SET
        std::vector<SqlValue> values;  ///< of the assignments' question marks
    };
    /// Changes at most `limit` of the credential's deliveries.
    Result<ParkedBatch> change(const std::string& credential, const Change& change, std::size_t limit);

    MysqlSession& session_;
};

}  // namespace epilogue
