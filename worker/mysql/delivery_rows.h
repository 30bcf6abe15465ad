// DeliveryRows over one MySQL session.
#pragma once

#include "base/ids.h"
#include "base/io/mysql.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

class MysqlDeliveryRows final : public DeliveryRows {
  public:
    /// `session` has an open transaction; `now` takes the database's time of the newest lock(), whose
    /// statement reads it too. Both outlive this object.
    MysqlDeliveryRows(MysqlSession& session, std::optional<Instant>& now) : session_(session), now_(now) {}

    Result<std::vector<DeliveryId>> insert(const std::vector<DeliveryRow>& rows) override;
    Result<std::optional<DeliveryRow>> lock(const DeliveryId& id) override;
    Result<void> update(const DeliveryRow& row) override;
    Result<std::vector<DeliveryRow>> lock_of(const TurnId& turn) override;
    Result<bool> has_older_open(const DeliveryRow& row) override;
    Result<std::vector<SiblingDelivery>> siblings(const DeliveryRow& row) override;
    Result<bool> exists_to(const TurnId& turn, const std::string& sink, const std::string& target) override;
    Result<std::vector<DueDelivery>> due(std::size_t limit) override;
    Result<std::vector<DueDelivery>> due_dedups(std::size_t limit) override;

  private:
    MysqlSession& session_;
    std::optional<Instant>& now_;
};

}  // namespace epilogue
