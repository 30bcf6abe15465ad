// Rows of partition_progress: where each partition stands, and who moves it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/named.h"
#include "base/record.h"
#include "base/result.h"

namespace epilogue {

struct PartitionKey {
    std::string group;
    std::string topic;
    int partition = 0;
    auto operator<=>(const PartitionKey&) const = default;
};

/// The last time a position moved other than by reading on.
struct PositionReset {
    Instant at;
    NextOffset from;
    std::string why;
};

/// Where a partition stands: moves in the same transaction as everything its records changed.
struct PartitionRow {
    std::string group;  ///< that made the row
    std::string cluster_id;
    std::string topic_id;  ///< as the broker has it; empty: it was not told
    NextOffset next_offset;
    std::optional<RecordFingerprint> last;  ///< record applied
    std::optional<Instant> clock;           ///< the partition's clock (contract §4a)
    std::optional<Instant> caught_up_at;
    std::optional<NextOffset> caught_up_offset;  ///< the log's end then
    std::optional<Instant> touched_at;           ///< database time of the last transaction of an owner
    std::optional<Instant> returned_at;          ///< when it came back from an outage of more than a minute
    std::string owner;
    std::int64_t connection_id = 0;
    Generation generation;
    /// Grows with every transaction of the owner: tells a commit that was lost from one that was not.
    std::int64_t sequence = 0;
    std::optional<RecordFingerprint> anchor;  ///< a record applied that is known to be of this log
    std::optional<int> first_partitions;      ///< the topic's count when it was first seen
    std::optional<PositionReset> reset;
    std::optional<Instant> gap_at;  ///< when records were last found to be gone before they were read
};

/// Not thread-safe; valid as long as its transaction.
class PartitionRows {
  public:
    PartitionRows() = default;
    PartitionRows(const PartitionRows&) = delete;
    PartitionRows& operator=(const PartitionRows&) = delete;
    virtual ~PartitionRows() = default;

    /// Locks the partition's row, the one of the newest generation, whichever group made it; nullopt when the
    /// partition was never claimed.
    virtual Result<std::optional<PartitionRow>> lock(const PartitionKey& key) = 0;
    /// The row as it was last committed, without waiting for a lock.
    virtual Result<std::optional<PartitionRow>> read(const PartitionKey& key) = 0;
    /// Writes the row of the key's own group.
    virtual Result<void> update(const PartitionKey& key, const PartitionRow& row) = 0;
    /// How many partitions the topic had when the first of them was claimed; nullopt when that is not known.
    virtual Result<std::optional<int>> first_count(const std::string& topic) = 0;
    /// How many partitions the topic has, as far as those that were claimed tell; 0: none was.
    virtual Result<int> known_count(const std::string& topic) = 0;
};

}  // namespace epilogue
