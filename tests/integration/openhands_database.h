// OpenHands' own database: its callback tables of both generations on a real PostgreSQL.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/postgres_server.h"

namespace epilogue::testing {

/// One server for all cases of a test program.
PostgresServer& postgres_of_this_program();

/// A database of a case's own. Errors are std::runtime_error. Not thread-safe.
class OpenHandsDatabase {
  public:
    /// Creates it with the tables as OpenHands' migrations leave them, and an account that may only read.
    OpenHandsDatabase(PostgresServer& server, const std::string& name);

    /// What --from takes: the account that may only read, with its password.
    std::string url() const;

    /// Adds a row of V0, created `created_at` (an SQL expression); returns its id.
    std::string add_v0(const std::string& conversation, const std::string& type, const std::string& json,
                       const std::string& status = "ACTIVE", const std::string& created_at = "now()") const;
    /// Adds a row of V1; returns its id.
    std::string add_v1(const std::string& conversation, const std::string& processor,
                       const std::string& status = "ACTIVE") const;
    /// A post that OpenHands made for a row of V1 at this event.
    void add_result(const std::string& callback, const std::string& event, const std::string& status) const;

    /// As the administrator.
    std::vector<PostgresRow> query(const std::string& sql) const { return server_.query(name_, sql); }
    /// All that stands in its tables, and which transaction wrote each row.
    std::string content() const;

  private:
    PostgresServer& server_;
    std::string name_;
};

/// processor_type of a GitHub row of V0, and its processor_json, for octo/imported#`number`, with `more`
/// members.
extern const std::string github_v0;
std::string github_view(int number, const std::string& more = "");
/// The processor of a Slack row of V1.
std::string slack_v1(const std::string& channel);

/// 'text' for PostgreSQL.
std::string pg_quoted(const std::string& text);

}  // namespace epilogue::testing
