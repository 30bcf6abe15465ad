// Statements over many rows: in chunks of the size that pays.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/io/mysql.h"

namespace epilogue {

constexpr std::size_t rows_per_statement = 100;  // above that nothing is gained (measured)

/// Calls `on_chunk(first, count)` for consecutive runs of at most rows_per_statement of `size` rows.
template <class OnChunk>
Result<void> in_chunks(std::size_t size, OnChunk on_chunk) {
    for (std::size_t first = 0; first < size; first += rows_per_statement)
        TRY_VOID(on_chunk(first, std::min(rows_per_statement, size - first)));
    return {};
}

/// `count` of the texts as values, from `first` on.
inline std::vector<SqlValue> as_values(const std::vector<std::string>& texts, std::size_t first,
                                       std::size_t count) {
    const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace epilogue
