// Rows for people (a table) or for programs (--json): the same columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/serve/row_json.h"

namespace epilogue::cli {

/// Prints rows to standard output: an array of objects, or a table with a heading.
void print_list(const std::vector<Column>& columns, const std::vector<SqlRow>& rows, bool json);

/// What may stand in a terminal: no control characters, one line.
std::string shown(const std::optional<std::string>& value);

/// Prints one row: an object, or "name: value" lines.
void print_one(const std::vector<Column>& columns, const SqlRow& row, bool json);

}  // namespace epilogue::cli
