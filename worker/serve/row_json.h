// Rows of a query as JSON documents: what commands print with --json and what the API answers.
#pragma once

#include <string>
#include <vector>

#include "base/io/mysql.h"

namespace epilogue {

enum class Kind {
    text,
    number,
    time,  ///< DATETIME(6): ISO 8601 UTC in JSON
    json,  ///< a JSON document in a column: nested in JSON
    blob,  ///< bytes: base64 in JSON
};

/// How a table for people has a column.
enum class Shown {
    cut,    ///< shortened where the table would be too wide
    whole,  ///< an id, by which one goes on
    not_in_tables,
};

struct Column {
    std::string name;
    Kind kind = Kind::text;
    Shown shown = Shown::cut;
};

/// A row as an object by the columns' names; bytes that are no UTF-8 become U+FFFD.
std::string object_json(const std::vector<Column>& columns, const SqlRow& row);
/// Rows as an array of such objects.
std::string array_json(const std::vector<Column>& columns, const std::vector<SqlRow>& rows);

}  // namespace epilogue
