// A real MariaDB or MySQL server of one's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/process/database_server.h"

namespace epilogue::testing {

using Row = std::vector<std::optional<std::string>>;  ///< columns as text; SQL's NULL is nullopt

enum class DatabaseKind { mariadb, mysql };

/// What the environment's EPILOGUE_TEST_DATABASE says (mariadb, mysql), MariaDB when it says nothing; every
/// other word throws std::runtime_error.
DatabaseKind chosen_database();

/// One server with its data in a temporary folder, on a free port of 127.0.0.1; each commit is synced to
/// disk. Errors are std::runtime_error. Thread-safe as to query().
class Database {
  public:
    /// Makes the data folder, starts the server, waits until it answers, and creates the user. MariaDB is
    /// Debian's, MySQL 8.0 the one that tests/stack/fetch-mysql has fetched: see require_programs().
    /// `options` are added to the server's command line.
    explicit Database(DatabaseKind kind = chosen_database(), const std::vector<std::string>& options = {});

    DatabaseKind kind() const { return kind_; }

    /// Creates an empty utf8mb4 database on which user() may do everything.
    void create_database(const std::string& name) const;

    unsigned short port() const { return port_; }
    /// The account for the programs under test, from 127.0.0.1.
    const std::string& user() const { return user_; }
    const std::string& password() const { return password_; }
    /// How that user connects to `database`, by TCP without TLS.
    MysqlSettings settings(const std::string& database) const;
    /// How root connects, no database chosen.
    MysqlSettings administrator() const { return server_.administrator(); }
    pid_t pid() const { return server_.pid(); }

    /// Executes one statement as administrator, on a connection of its own, in `database` when it is not
    /// empty; again when a deadlock with the program under test undid it. Returns its rows; none for a
    /// statement that has no result.
    std::vector<Row> query(const std::string& sql, const std::string& database = "") const;
    /// The one number that a query answers.
    std::int64_t number(const std::string& sql, const std::string& database = "") const;

    /// SIGTERM; returns when it has ended.
    void stop();
    /// SIGKILL; returns when it has ended.
    void kill9();
    /// After stop() or kill9(): starts it on the same data and port and waits until it answers.
    void start_again();

  private:
    DatabaseKind kind_;
    unsigned short port_;
    process::DatabaseServer server_;
    std::string user_ = "epilogue";
    std::string password_;
};

}  // namespace epilogue::testing
