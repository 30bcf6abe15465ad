// Statements over many rows: in chunks of the size that pays, and of few different sizes, because each size
// is a prepared statement of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/io/mysql.h"
#include "worker/mysql/columns.h"

namespace epilogue {

constexpr std::size_t rows_per_statement = 128;  // above that nothing is gained (measured)

/// Calls `on_chunk(first, count)` for consecutive runs of `size` rows: each count is a power of two, at most
/// rows_per_statement.
template <class OnChunk>
Result<void> in_chunks(std::size_t size, OnChunk on_chunk) {
    for (std::size_t first = 0; first < size;) {
        const std::size_t count = std::min(rows_per_statement, std::bit_floor(size - first));
        TRY_VOID(on_chunk(first, count));
        first += count;
    }
    return {};
}

/// `count` of the ids as values, from `first` on.
template <class Id>
std::vector<SqlValue> as_values(const std::vector<Id>& ids, std::size_t first, std::size_t count) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// Calls `on_chunk(values)` for consecutive runs of the ids, for an IN list. A last run that is no power of
/// two is filled up with its last id: an IN list takes it as often as it comes, an INSERT would not.
template <class Id, class OnChunk>
Result<void> in_id_chunks(const std::vector<Id>& ids, OnChunk on_chunk) {
    for (std::size_t first = 0; first < ids.size(); first += rows_per_statement) {
        const std::size_t count = std::min(rows_per_statement, ids.size() - first);
        auto values = as_values(ids, first, count);
        values.resize(std::bit_ceil(count), values.back());
        TRY_VOID(on_chunk(values));
    }
    return {};
}

/// The first column of all rows of `select`, which ends with the column that has to be one of the ids.
template <class Id>
Result<std::vector<Id>> first_column_among(MysqlSession& session, const std::string& select,
                                           const std::vector<Id>& ids) {
    std::vector<Id> found;
    TRY_VOID(in_id_chunks(ids, [&](const std::vector<SqlValue>& values) -> Result<void> {
        TRY(auto some, first_column<Id>(session, select + " IN " + placeholders(values.size()), values));
        std::move(some.begin(), some.end(), std::back_inserter(found));
        return {};
    }));
    return found;
}

}  // namespace epilogue
