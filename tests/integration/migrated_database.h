// A database with the tables, for suites that run parts of the worker over it in this process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/database.h"

namespace epilogue::testing {

/// Errors are std::runtime_error. Thread-safe.
class MigratedDatabase {
  public:
    /// Creates it on `server`, which has to outlive it and must not be killed: commits are not synced to disk
    /// any more.
    MigratedDatabase(const Database& server, const std::string& name);

    /// How the parts connect.
    const MysqlSettings& settings() const { return settings_; }
    /// Past the parts, as administrator: rows, or the one number that a query answers.
    std::vector<Row> query(const std::string& sql) const;
    std::int64_t number(const std::string& sql) const;

  private:
    const Database& server_;
    const MysqlSettings settings_;
};

}  // namespace epilogue::testing
