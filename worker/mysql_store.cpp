#include "worker/mysql_store.h"

#include <chrono>

#include "worker/mysql_columns.h"
#include "worker/mysql_transaction.h"

namespace epilogue {
namespace {

constexpr int max_tries = 5;
constexpr std::size_t max_idle_sessions = 16;

}  // namespace

MysqlStore::MysqlStore(MysqlSettings settings, StoreObserver observer)
    : settings_(std::move(settings)), observer_(std::move(observer)) {}

MysqlStore::~MysqlStore() = default;

Result<std::unique_ptr<MysqlSession>> MysqlStore::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto session = std::move(idle_.back());
            idle_.pop_back();
            return session;
        }
    }
    return MysqlSession::open(settings_);
}

void MysqlStore::give_back(std::unique_ptr<MysqlSession> session) {
    const std::lock_guard lock(mutex_);
    if (session->is_broken()) {
        idle_.clear();  // the server went away: the others are as dead
        return;
    }
    if (idle_.size() < max_idle_sessions) idle_.push_back(std::move(session));
}

/// Yes: the work is in the database. No: it is not, and trying again may help. Error: it is not, and the
/// caller decides.
Result<MysqlStore::Committed> MysqlStore::attempt(const Work& work, const Check& is_done) {
    TRY(auto session, take());
    const auto give_up = [&](const Error& error) -> Result<Committed> {
        // After 1205 the transaction is still open. A rollback that fails breaks the session, which ends it
        // too.
        if (!session->is_broken()) (void)session->run("ROLLBACK").has_value();
        give_back(std::move(session));
        if (is_conflict(error) || is_lost_connection(error)) return Committed::no;
        return Failure(error);
    };
    if (const auto begun = session->run("BEGIN"); !begun) return give_up(begun.error());
    MysqlTransaction transaction(*session);
    if (const auto worked = work(transaction); !worked) return give_up(worked.error());
    const auto started = std::chrono::steady_clock::now();
    const auto committed = session->run("COMMIT");
    if (committed) {
        observer_.committed(std::chrono::steady_clock::now() - started);
        give_back(std::move(session));
        return Committed::yes;
    }
    if (!is_lost_connection(committed.error())) return give_up(committed.error());
    observer_.ambiguous_commit();
    TRY(const bool done, ask_if_done(session->connection_id(), is_done));
    return done ? Committed::yes : Committed::no;
}

Result<bool> MysqlStore::ask_if_done(std::int64_t lost_connection, const Check& is_done) {
    TRY_VOID(end_session(lost_connection));
    bool done = false;
    TRY_VOID(read([&](Transaction& transaction) -> Result<void> {
        TRY(done, is_done(transaction));
        return {};
    }));
    return done;
}

Result<void> MysqlStore::transact(const Work& work, const Check& is_done) {
    for (int tries = 1; tries <= max_tries; ++tries) {
        TRY(const Committed committed, attempt(work, is_done));
        if (committed == Committed::yes) return {};
    }
    return retryable("the database refused the transaction " + std::to_string(max_tries) +
                         " times (deadlock, lock wait or lost connection)",
                     1205);
}

Result<void> MysqlStore::read(const Work& work) {
    TRY(auto session, take());
    Result<void> result = session->run("BEGIN");
    if (result) {
        MysqlTransaction transaction(*session);
        result = work(transaction);
    }
    if (!session->is_broken()) (void)session->run("ROLLBACK").has_value();
    give_back(std::move(session));
    return result;
}

Result<void> MysqlStore::end_session(std::int64_t connection_id) {
    constexpr int unknown_thread = 1094;
    TRY(auto session, take());
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

Result<std::vector<SqlRow>> MysqlStore::query(const std::string& sql, const std::vector<SqlValue>& values) {
    TRY(auto session, take());
    auto rows = session->query(sql, values);
    if (!rows && is_lost_connection(rows.error())) {
        // An idle session may have been closed by the server meanwhile; a read is safe to repeat on a new
        // one.
        TRY(session, MysqlSession::open(settings_));
        rows = session->query(sql, values);
    }
    give_back(std::move(session));
    return rows;
}

}  // namespace epilogue
