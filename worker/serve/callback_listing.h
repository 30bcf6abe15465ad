// The callbacks there are, as rows for people and programs: `callbacks list|show` and GET /api/callbacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "worker/mysql/mysql_store.h"
#include "worker/serve/row_json.h"

namespace epilogue {

struct CallbackFilter {
    std::string status;        ///< ACTIVE, COMPLETED or ERROR; empty: any
    std::string conversation;  ///< its id in any spelling; empty: any
    bool dormant = false;      ///< only those that wait for callbacks wake
    std::int64_t limit = 100;  ///< at most so many, lowest ids first
    CallbackId after;          ///< only ids above this one
};

/// What CallbackFilter::status may be.
const std::vector<std::string>& callback_statuses();

/// The columns of list_callbacks.
const std::vector<Column>& callback_list_columns();
/// Rows that pass the filter. Errors: the database's.
Result<std::vector<SqlRow>> list_callbacks(MysqlStore& store, const CallbackFilter& filter);
/// How many rows pass the filter; counts up to its limit. Errors: the database's.
Result<std::int64_t> count_callbacks(MysqlStore& store, const CallbackFilter& filter);

/// The columns of find_callback: those of the list, processor_json, and where its agent server is: agent_url,
/// and agent_key, which says only that there is one.
const std::vector<Column>& callback_columns();
/// One callback; nullopt when there is none. Errors: the database's.
Result<std::optional<SqlRow>> find_callback(MysqlStore& store, CallbackId id);
/// What is said of an id that no callback has.
std::string no_callback(CallbackId id);

}  // namespace epilogue
