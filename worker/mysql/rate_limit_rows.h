// PaceRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {

class MysqlPaceRows final : public PaceRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlPaceRows(MysqlSession& session) : session_(session) {}

    Result<RateWindow> peek_window(const std::string& window) override;
    Result<RateWindow> hold_window(const std::string& window) override;
    Result<RateWindow> lock_window(const std::string& window) override;
    Result<void> put_window(const std::string& window, const RateWindow& row, Instant open_at) override;
    Result<std::vector<std::string>> open_lines(std::size_t limit) override;
    Result<std::vector<DeliveryRow>> heads_of_line(const std::string& window, std::size_t limit) override;
    Result<bool> has_line(const std::string& window) override;

    Result<CredentialRow> peek_credential(const std::string& credential) override;
    Result<CredentialRow> lock_credential(const std::string& credential) override;
    Result<void> put_credential(const std::string& credential, const CredentialRow& row) override;
    Result<std::vector<std::string>> unsettled_credentials(std::size_t limit) override;
    Result<std::vector<std::string>> credentials_to_probe(std::size_t limit) override;
    Result<std::optional<DeliveryRow>> oldest_parked(const std::string& credential) override;
    Result<Moved> park(const std::string& credential, const std::string& cause, std::size_t limit) override;
    Result<Moved> let_go(const std::string& credential, std::size_t limit) override;

  private:
    Result<RateWindow> window(const std::string& name, const char* lock);
    Result<CredentialRow> credential(const std::string& name, const char* lock);
    /// Changes at most `limit` of the credential's deliveries that meet `condition`, by `assignments`.
    Result<Moved> move(const std::string& credential, const std::string& condition,
                       const std::string& assignments, const std::vector<SqlValue>& values,
                       std::size_t limit);

    MysqlSession& session_;
};

}  // namespace epilogue
