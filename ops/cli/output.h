// Rows for people (a table) or for programs (--json): the same columns.
#pragma once

#include <string>
#include <vector>

#include "base/io/mysql.h"

namespace epilogue::cli {

enum class Kind {
    text,
    number,
    time,  ///< DATETIME(6): ISO 8601 UTC in JSON
    json,  ///< a JSON document in a column: nested in JSON
    blob,  ///< bytes: base64 in JSON
};

struct Column {
    std::string name;
    Kind kind = Kind::text;
};

/// Prints rows to standard output: an array of objects, or a table with a heading.
void print_list(const std::vector<Column>& columns, const std::vector<SqlRow>& rows, bool json);

/// Prints one row: an object, or "name: value" lines.
void print_one(const std::vector<Column>& columns, const SqlRow& row, bool json);

}  // namespace epilogue::cli
