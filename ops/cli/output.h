// Rows for people (a table) or for programs (--json): the same columns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/mysql/mysql_store.h"
#include "worker/serve/row_json.h"

namespace epilogue::cli {

/// Prints rows to standard output: an array of objects, or a table with a heading, at most 120 columns wide.
void print_list(const std::vector<Column>& columns, const std::vector<SqlRow>& rows, bool json);

/// A part of a list: at most `limit` rows.
struct Page {
    std::string noun;  ///< of one row
    std::int64_t limit = 0;
    std::function<std::vector<SqlRow>(std::int64_t limit)> rows;
    std::function<std::int64_t(std::int64_t limit)> count;  ///< of rows, the page's among them, up to `limit`
    std::size_t id = 0;                                     ///< the column that --after takes
};

/// Prints a page; then how many rows it has, and how to see the next ones: below a table, and on standard
/// error beside JSON.
void print_page(const std::vector<Column>& columns, const Page& page, bool json);

/// How many rows `SELECT 1 FROM <from>` has, up to `limit`; throws Exit.
std::int64_t count_rows(MysqlStore& store, const std::string& from, const std::vector<SqlValue>& values,
                        std::int64_t limit);

/// "1 row", "2 rows".
std::string counted(std::int64_t count, std::string_view noun);

/// What may stand in a terminal: no control characters, one line.
std::string shown(const std::optional<std::string>& value);

/// Prints one row: an object, or "name: value" lines.
void print_one(const std::vector<Column>& columns, const SqlRow& row, bool json);

}  // namespace epilogue::cli
