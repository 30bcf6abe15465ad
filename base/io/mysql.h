// One MySQL or MariaDB session over MySQL Connector/C++. The driver's own transaction calls swallow errors,
// so BEGIN, COMMIT and ROLLBACK are SQL statements here; it never reconnects by itself. No exception leaves
// this file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace epilogue {

struct MysqlSettings {
    std::string host = "127.0.0.1";
    int port = 3306;
    std::string socket;  ///< wins over host and port when not empty
    std::string user;
    std::string password;
    std::string database;
    enum class Tls {
        off,
        preferred,
        required,  ///< a session that is not encrypted is refused
        verified,  ///< so is a server whose certificate is not of tls_ca, or is not for `host`
    };
    Tls tls = Tls::preferred;
    std::string tls_ca;           ///< PEM file; empty: the system's authorities
    std::string tls_certificate;  ///< PEM file of ours, when the server wants one
    std::string tls_key;          ///< PEM file
    std::chrono::seconds connect_timeout{5};
    std::chrono::seconds answer_timeout{20};  ///< for each read and write on the socket
};

/// A parameter of a statement: NULL, a number, bytes, or a DATETIME(6) in UTC.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, std::string, Instant>;
/// NULL for an empty optional.
SqlValue sql_value(const std::optional<Instant>& at);
/// NULL for an empty text.
SqlValue sql_value_or_null(const std::string& text);

/// One row of a result; every value as text, NULL as nullopt.
using SqlRow = std::vector<std::optional<std::string>>;

/// What the error numbers mean for the caller.
bool is_lost_connection(const Error& error);  ///< the session is gone, an open transaction with it
bool is_conflict(const Error& error);         ///< deadlock, lock wait, changed row: run the transaction again
bool is_missing_table(const Error& error);
bool is_already_done(const Error& error);  ///< a column or key is there already, or gone already

/// "(?,?,?)" with `columns` question marks, `rows` times, separated by commas.
std::string placeholders(std::size_t columns, std::size_t rows = 1);
/// `row` so many times, separated by commas.
std::string repeated(const std::string& row, std::size_t rows);

/// Not thread-safe: one thread at a time. Prepared statements are cached per session.
/// Errors: Remedy::poison when the data cannot be stored (contract: architecture §1.3's list), else
/// Remedy::retry; Error::code is the server's or client library's number.
class MysqlSession {
  public:
    /// Connects with READ COMMITTED, utf8mb4, UTC, innodb_lock_wait_timeout 5 s, wait_timeout 120 s; refuses
    /// a session without TLS when tls is `required` or `verified`.
    static Result<std::unique_ptr<MysqlSession>> open(const MysqlSettings& settings);
    ~MysqlSession();
    MysqlSession(const MysqlSession&) = delete;
    MysqlSession& operator=(const MysqlSession&) = delete;

    /// Runs a SELECT.
    Result<std::vector<SqlRow>> query(const std::string& sql, const std::vector<SqlValue>& values = {});
    /// Runs any other statement; returns the number of rows it changed.
    Result<std::int64_t> execute(const std::string& sql, const std::vector<SqlValue>& values = {});
    /// Runs text as it is, not prepared: for DDL and transaction control.
    Result<void> run(const std::string& sql);

    std::int64_t connection_id() const { return connection_id_; }
    /// True once an error said that the session is gone: throw it away.
    bool is_broken() const { return broken_; }

  private:
    struct Driver;
    explicit MysqlSession(std::unique_ptr<Driver> driver);
    Failure failed(const std::string& text, int code);

    std::unique_ptr<Driver> driver_;
    std::int64_t connection_id_ = 0;
    bool broken_ = false;
};

}  // namespace epilogue
