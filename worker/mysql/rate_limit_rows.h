// RateLimitRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {

class MysqlRateLimitRows final : public RateLimitRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlRateLimitRows(MysqlSession& session) : session_(session) {}

    Result<RateWindow> read(const std::string& window) override;
    Result<RateWindow> share_lock(const std::string& window) override;
    Result<RateWindow> lock(const std::string& window) override;
    Result<void> update(const std::string& window, const RateWindow& row, Instant open_at) override;
    Result<std::vector<std::string>> open_queues(std::size_t limit) override;
    Result<std::vector<DueDelivery>> queue_heads(const std::string& window, std::size_t limit) override;
    Result<bool> has_queue(const std::string& window) override;

  private:
    Result<RateWindow> window(const std::string& name, const char* lock);

    MysqlSession& session_;
};

}  // namespace epilogue
