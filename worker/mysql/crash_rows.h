// Counts a crash against the row that was worked at, in its column `crashes` (schemas/sql/009_crashes.sql).
#pragma once

#include "base/io/mysql.h"
#include "base/under_way.h"

namespace epilogue {

/// Adds one to the crashes of the row that `what` names (worker/store/leased_rows.h). False when it is no
/// row, or the row is gone. Errors: the database's.
Result<bool> count_crash(MysqlSession& session, const UnderWay& what);

}  // namespace epilogue
