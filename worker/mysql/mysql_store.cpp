#include "worker/mysql/mysql_store.h"

#include <chrono>

#include "worker/mysql/columns.h"
#include "worker/mysql/mysql_transaction.h"

namespace epilogue {
namespace {

/// A pooled session that one transaction uses.
class PooledSession final : public StoreSession {
  public:
    explicit PooledSession(std::unique_ptr<MysqlSession> session)
        : session_(std::move(session)), transaction_(*session_) {}

    Result<void> begin() override { return session_->run("BEGIN"); }
    Result<void> send_commit() override { return session_->run("COMMIT"); }
    void roll_back() override {
        if (!session_->is_broken()) (void)session_->run("ROLLBACK").has_value();
    }
    Transaction& rows() override { return transaction_; }
    std::int64_t connection_id() const override { return session_->connection_id(); }
    std::unique_ptr<MysqlSession> release() { return std::move(session_); }

  private:
    std::unique_ptr<MysqlSession> session_;
    MysqlTransaction transaction_;
};

}  // namespace

MysqlStore::MysqlStore(MysqlSettings settings, StoreObserver observer, std::size_t idle_sessions)
    : observer_(std::move(observer)), idle_sessions_(idle_sessions), settings_(std::move(settings)) {}

MysqlStore::~MysqlStore() = default;

Result<std::unique_ptr<MysqlSession>> MysqlStore::take_session() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto session = std::move(idle_.back());
            idle_.pop_back();
            return session;
        }
    }
    return open_session();
}

Result<std::unique_ptr<MysqlSession>> MysqlStore::open_session() {
    MysqlSettings settings;
    {
        const std::lock_guard lock(mutex_);
        settings = settings_;
    }
    return MysqlSession::open(settings);
}

void MysqlStore::change_password(const std::string& password) {
    const std::lock_guard lock(mutex_);
    settings_.password = password;
}

void MysqlStore::give_back(std::unique_ptr<MysqlSession> session) {
    const std::lock_guard lock(mutex_);
    if (session->is_broken()) {
        idle_.clear();  // the server went away: the others are as dead
        return;
    }
    if (idle_.size() < idle_sessions_) idle_.push_back(std::move(session));
}

Result<std::unique_ptr<StoreSession>> MysqlStore::take() {
    TRY(auto session, take_session());
    return std::unique_ptr<StoreSession>(std::make_unique<PooledSession>(std::move(session)));
}

void MysqlStore::give_back(std::unique_ptr<StoreSession> session) {
    give_back(static_cast<PooledSession&>(*session).release());
}

void MysqlStore::committed(std::chrono::duration<double> after) {
    observer_.committed(after);
}

void MysqlStore::commit_was_ambiguous() {
    {
        const std::lock_guard lock(mutex_);
        idle_.clear();  // what took one session may have taken all
    }
    observer_.ambiguous_commit();
}

void MysqlStore::undone(const Error& why) {
    constexpr int changed_row = 1020;
    constexpr int lock_wait = 1205;
    constexpr int deadlock = 1213;
    observer_.undone(why.code == deadlock      ? "deadlock"
                     : why.code == lock_wait   ? "lock_wait"
                     : why.code == changed_row ? "changed_row"
                     : is_lost_connection(why) ? "lost_connection"
                                               : "commit_refused");
}

Result<void> MysqlStore::transact(const Work& work, const Check& is_done) {
    return epilogue::transact(*this, work, is_done);
}

Result<void> MysqlStore::read_only(const Work& work) {
    return epilogue::read_only(*this, work);
}

Result<void> MysqlStore::end_session(std::int64_t connection_id) {
    constexpr int unknown_thread = 1094;
    TRY(auto session, take_session());
    const auto killed = session->run("KILL " + std::to_string(connection_id));
    give_back(std::move(session));
    if (!killed && killed.error().code != unknown_thread) return Failure(killed.error());
    return {};
}

Result<Installation> MysqlStore::installation() {
    TRY(const auto rows, query("SELECT installation_id, created_at FROM installation WHERE singleton=1"));
    if (rows.empty()) return fatal("the database is empty: run `epilogue migrate`");
    Columns columns(rows[0]);
    Installation installation;
    installation.id = columns.text();
    installation.created_at = columns.instant().value_or(Instant{});
    return installation;
}

Result<void> MysqlStore::with_session(const std::function<Result<void>(MysqlSession&)>& work) {
    TRY(auto session, take_session());
    auto done = work(*session);
    give_back(std::move(session));
    return done;
}

Result<std::vector<SqlRow>> MysqlStore::query(const std::string& sql, const std::vector<SqlValue>& values) {
    TRY(auto session, take_session());
    auto rows = session->query(sql, values);
    if (!rows && is_lost_connection(rows.error())) {
        // An idle session may have been closed by the server meanwhile; a read is safe to repeat on a new
        // one.
        TRY(session, open_session());
        rows = session->query(sql, values);
    }
    give_back(std::move(session));
    return rows;
}

}  // namespace epilogue
