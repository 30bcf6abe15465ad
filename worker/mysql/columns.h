// Typed reading of one result row, column after column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/io/mysql.h"

namespace epilogue {

/// Takes the columns of `row` from left to right; NULL reads as empty text, zero or nullopt.
class Columns {
  public:
    explicit Columns(const SqlRow& row) : row_(row) {}

    std::string text() { return next().value_or(""); }
    template <class Id>
    Id id() {
        return Id(text());
    }
    std::optional<std::string> text_or_null() { return next(); }
    std::int64_t number() { return number_or_null().value_or(0); }
    std::optional<std::int64_t> number_or_null() {
        const auto& value = next();
        return value ? std::optional<std::int64_t>(std::stoll(*value)) : std::nullopt;
    }
    std::optional<Instant> instant() {
        const auto& value = next();
        return value ? parse_instant(*value) : std::nullopt;
    }

  private:
    const std::optional<std::string>& next() { return row_.at(index_++); }

    const SqlRow& row_;
    std::size_t index_ = 0;
};

/// The first column of all rows that the query gives, as texts or as ids.
template <class Id = std::string>
Result<std::vector<Id>> first_column(MysqlSession& session, const std::string& sql,
                                     const std::vector<SqlValue>& values = {}) {
    TRY(const auto rows, session.query(sql, values));
    std::vector<Id> ids;
    for (const SqlRow& row : rows) ids.push_back(Columns(row).id<Id>());
    return ids;
}

}  // namespace epilogue
