// CallbackRows over one MySQL session.
#pragma once

#include "base/ids.h"
#include "base/io/mysql.h"
#include "worker/store/callback_rows.h"

namespace epilogue {

class MysqlCallbackRows final : public CallbackRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlCallbackRows(MysqlSession& session) : session_(session) {}

    Result<std::vector<CallbackRow>> lock_active(
        const std::vector<ConversationId>& conversation_ids) override;
    Result<std::vector<ConversationId>> watched_among(
        const std::vector<ConversationId>& conversation_ids) override;
    Result<std::optional<CallbackRow>> read(CallbackId id) override;
    Result<std::optional<CallbackRow>> lock(CallbackId id) override;
    Result<void> update_state(CallbackId id, const CallbackState& state) override;
    Result<UnadoptedChunk> unadopted(CallbackId after, std::size_t limit) override;
    Result<std::optional<UnadoptedCallback>> read_unadopted(CallbackId id) override;
    Result<std::optional<UnadoptedCallback>> lock_unadopted(CallbackId id) override;
    Result<void> insert_progress(const CallbackRow& row) override;
    Result<CallbackId> insert(const CallbackRow& row) override;
    Result<std::optional<CallbackId>> with_idempotency_key(const std::string& key) override;
    Result<IdempotentRequest> save_idempotency_key(const IdempotentRequest& request) override;
    Result<void> point_idempotency_key(const std::string& key, const std::string& registration) override;

  private:
    Result<std::vector<CallbackRow>> callbacks_where(const std::string& condition,
                                                     const std::vector<SqlValue>& values);
    Result<std::optional<UnadoptedCallback>> unadopted_callback(CallbackId id, const std::string& lock);

    MysqlSession& session_;
};

}  // namespace epilogue
