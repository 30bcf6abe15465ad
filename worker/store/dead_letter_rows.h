// Rows of dead_letters: records that could not be used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/named.h"
#include "base/result.h"

namespace epilogue {

struct DeadLetterRow {
    std::string cluster_id;
    std::string topic;
    int partition = 0;
    Offset offset;
    std::optional<std::string> key;
    std::string reason;
    std::int64_t length = 0;
    std::string sha256;
    std::string value;  ///< the first 64 KiB
};

/// Not thread-safe; valid as long as its transaction.
class DeadLetterRows {
  public:
    DeadLetterRows() = default;
    DeadLetterRows(const DeadLetterRows&) = delete;
    DeadLetterRows& operator=(const DeadLetterRows&) = delete;
    virtual ~DeadLetterRows() = default;

    /// Existing rows (same record) are kept as they are.
    virtual Result<void> insert(const std::vector<DeadLetterRow>& rows) = 0;
    virtual Result<std::optional<DeadLetterRow>> lock(std::int64_t id) = 0;
    virtual Result<void> mark_replayed(std::int64_t id) = 0;
};

}  // namespace epilogue
