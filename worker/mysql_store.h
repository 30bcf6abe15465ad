// Store over a pool of MySQL sessions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/io/mysql.h"
#include "worker/store.h"

namespace epilogue {

/// What the store tells its observer (metrics).
struct StoreObserver {
    std::function<void(std::chrono::duration<double>)> committed = [](auto) {};
    std::function<void()> ambiguous_commit = [] {};
};

class MysqlStore final : public Store {
  public:
    MysqlStore(MysqlSettings settings, StoreObserver observer);
    ~MysqlStore() override;

    Result<void> transact(const Work& work, const Check& is_done) override;
    Result<void> read(const Work& work) override;
    Result<void> end_session(std::int64_t connection_id) override;
    Result<Installation> installation() override;

    /// Runs plain statements on a pooled session, outside any transaction: for commands that only list.
    Result<std::vector<SqlRow>> query(const std::string& sql, const std::vector<SqlValue>& values = {});

  private:
    class Lease;
    enum class Committed { yes, no };

    Result<std::unique_ptr<MysqlSession>> take();
    void give_back(std::unique_ptr<MysqlSession> session);
    Result<Committed> attempt(const Work& work, const Check& is_done);
    Result<bool> ask_if_done(std::int64_t lost_connection, const Check& is_done);

    const MysqlSettings settings_;
    const StoreObserver observer_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<MysqlSession>> idle_;
};

}  // namespace epilogue
