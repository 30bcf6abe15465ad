// CallbackRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/callback_rows.h"

namespace epilogue {

class MysqlCallbackRows final : public CallbackRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlCallbackRows(MysqlSession& session) : session_(session) {}

    Result<std::vector<CallbackRow>> lock_active(const std::vector<std::string>& conversation_ids) override;
    Result<std::vector<std::string>> watched_among(const std::vector<std::string>& conversation_ids) override;
    Result<std::optional<CallbackRow>> read(std::int64_t id) override;
    Result<std::optional<CallbackRow>> lock(std::int64_t id) override;
    Result<void> update_state(std::int64_t id, const CallbackState& state) override;
    Result<std::vector<std::int64_t>> unadopted(std::size_t limit) override;
    Result<std::optional<UnadoptedCallback>> read_unadopted(std::int64_t id) override;
    Result<std::optional<UnadoptedCallback>> lock_unadopted(std::int64_t id) override;
    Result<void> insert_progress(const CallbackRow& row) override;
    Result<std::int64_t> insert(const CallbackRow& row) override;
    Result<std::optional<std::int64_t>> with_idempotency_key(const std::string& key) override;
    Result<IdempotentRequest> save_idempotency_key(const IdempotentRequest& request) override;

  private:
    Result<std::vector<CallbackRow>> callbacks_where(const std::string& condition,
                                                     const std::vector<SqlValue>& values);
    Result<std::optional<UnadoptedCallback>> unadopted_callback(std::int64_t id, const std::string& lock);

    MysqlSession& session_;
};

}  // namespace epilogue
