// A real PostgreSQL server of one's own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/io/postgres.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// One server with its data in a temporary folder, on a free port of 127.0.0.1; never the machine's own.
/// Errors are std::runtime_error. Not thread-safe.
class PostgresServer {
  public:
    /// Makes the data folder, starts the server that tests/stack/fetch-postgresql has fetched, and waits
    /// until it answers.
    PostgresServer();
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    /// Creates an empty database.
    void create_database(const std::string& name) const;
    /// "postgres://user@127.0.0.1:PORT/NAME": the administrator's, who may do everything, or another's.
    std::string url(const std::string& database, const std::string& user = "postgres") const;
    /// The administrator's password.
    const std::string& password() const { return password_; }
    unsigned short port() const { return port_; }

    /// Executes statements as administrator, separated by semicolons, on a connection of their own. Returns
    /// the rows of the last one.
    std::vector<PostgresRow> query(const std::string& database, const std::string& sql) const;
    /// The one value that a query answers.
    std::string value(const std::string& database, const std::string& sql) const;

    /// SIGINT, which ends its sessions; returns when it has ended.
    void stop();
    /// After stop(): starts it on the same data and port and waits until it answers.
    void start_again();

  private:
    Command as_its_user(std::vector<std::string> program) const;

    TempDir folder_;
    unsigned short port_;
    std::string password_;
    std::unique_ptr<Process> process_;
};

}  // namespace epilogue::testing
