// Windows, lines and credentials as one transaction of the simulation sees them.
#pragma once

#include "tests/sim/database.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue::sim {

class SimTransaction;

class SimPaceRows final : public PaceRows {
  public:
    SimPaceRows(Database& database, SimTransaction& transaction)
        : database_(database), transaction_(transaction) {}

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
    /// Changes what `change` gives a new row for.
    Result<Moved> move(const std::string& credential, std::size_t limit,
                       const std::function<std::optional<DeliveryRow>(const DeliveryRow&)>& change);

    Database& database_;
    SimTransaction& transaction_;
};

}  // namespace epilogue::sim
