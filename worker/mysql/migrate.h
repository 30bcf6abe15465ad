// The tables: their steps (schemas/sql/NNN_*.sql, built in) and how far a database has come.
#pragma once

#include <string>
#include <vector>

#include "base/io/mysql.h"
#include "base/result.h"

namespace epilogue {

struct Migration {
    int version = 0;
    std::string name;
    std::string sql;  ///< statements, each ended by ";" at the end of a line
};

/// All steps that this build knows, ascending.
const std::vector<Migration>& migrations();

struct MigrationStatus {
    int present = 0;  ///< of the database; 0: none
    int needed = 0;   ///< by this build
};

/// How far the database is; creates nothing.
Result<MigrationStatus> migration_status(MysqlSession& session);

/// Creates or upgrades the tables. Safe from many hosts at once (a named lock) and any number of times; never
/// drops. Returns the names of the steps that were taken now.
Result<std::vector<std::string>> migrate(MysqlSession& session);

}  // namespace epilogue
