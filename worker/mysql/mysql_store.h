// Store over a pool of MySQL sessions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/io/mysql.h"
#include "worker/store/commit_protocol.h"
#include "worker/store/store.h"

namespace epilogue {

/// What the store tells its observer (metrics).
struct StoreObserver {
    std::function<void(std::chrono::duration<double>)> committed = [](auto) {};
    std::function<void()> ambiguous_commit = [] {};
    /// A transaction was undone and may be run again: "deadlock", "lock_wait", "changed_row",
    /// "lost_connection", or "commit_refused" for any other answer to COMMIT.
    std::function<void(std::string_view cause)> undone = [](auto) {};
};

class MysqlStore final : public Store, private SessionSource {
  public:
    /// Keeps `idle_sessions` open, at most, that are not in use.
    MysqlStore(MysqlSettings settings, StoreObserver observer, std::size_t idle_sessions = 16);
    ~MysqlStore() override;

    Result<void> transact(const Work& work, const Check& is_done) override;
    Result<void> read_only(const Work& work) override;
    Result<void> end_session(std::int64_t connection_id) override;
    Result<Installation> installation() override;

    /// Sessions that are opened from now on use this password.
    void change_password(const std::string& password);

    /// Calls `work` with a pooled session without a transaction; it has to leave none open, unless the
    /// session is broken. Errors: the database's, and those of `work`.
    Result<void> with_session(const std::function<Result<void>(MysqlSession&)>& work);

    /// Runs plain statements on a pooled session, outside any transaction: for commands that only list.
    Result<std::vector<SqlRow>> query(const std::string& sql, const std::vector<SqlValue>& values = {});

  private:
    Result<std::unique_ptr<StoreSession>> take() override;
    void give_back(std::unique_ptr<StoreSession> session) override;
    void committed(std::chrono::duration<double> after) override;
    void commit_was_ambiguous() override;
    void undone(const Error& why) override;

    Result<std::unique_ptr<MysqlSession>> take_session();
    Result<std::unique_ptr<MysqlSession>> open_session();
    void give_back(std::unique_ptr<MysqlSession> session);

    const StoreObserver observer_;
    const std::size_t idle_sessions_;
    std::mutex mutex_;
    MysqlSettings settings_;
    std::vector<std::unique_ptr<MysqlSession>> idle_;
};

}  // namespace epilogue
