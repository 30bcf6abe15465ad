// Reading rows of deliveries, for whatever condition.
#pragma once

#include <string>
#include <vector>

#include "base/io/mysql.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

/// The table, to be read by that index: where an ORDER BY has a LIMIT, a server's statistics may make it walk
/// through all that was ever sent instead.
inline std::string deliveries_by(const std::string& index) {
    return "deliveries FORCE INDEX (" + index + ")";
}

/// Deliveries that meet the condition (SQL behind WHERE, with `values` for its question marks), by that
/// index.
Result<std::vector<DeliveryRow>> deliveries_where(MysqlSession& session, const std::string& index,
                                                  const std::string& condition,
                                                  const std::vector<SqlValue>& values);

/// The same, when no more is wanted than what a sweep takes.
Result<std::vector<DueDelivery>> due_deliveries_where(MysqlSession& session, const std::string& index,
                                                      const std::string& condition,
                                                      const std::vector<SqlValue>& values);

/// States in which something will happen to a delivery by itself.
inline const std::string open_states = "('PLANNED','SENDING','UNKNOWN','RETRY')";
/// No worker holds a lease on it.
inline const std::string is_free = "(lease_until IS NULL OR lease_until<=UTC_TIMESTAMP(6))";
/// It is the oldest open one of its callback.
inline const std::string is_first_of_callback =
    "NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.callback_id=deliveries.callback_id AND "
    "e.ordinal<deliveries.ordinal AND e.state IN " +
    open_states + ")";

}  // namespace epilogue
