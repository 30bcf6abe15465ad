// Claims a partition: writes a new generation, after which every transaction of an older owner fails. Only
// here can a stored position move other than by reading on.
#pragma once

#include <functional>

#include "worker/apply/batch.h"
#include "worker/consume/position_check.h"
#include "worker/store/partition_rows.h"

namespace epilogue {

/// Whether the error says that a live worker of another group, or of another cluster, reads the partition
/// into these tables.
inline bool is_owned_elsewhere(const Error& error) {
    return error.cause == Cause::owned_elsewhere;
}

/// A claim that was made, and how its position was found.
struct Claimed {
    Claim claim;
    PositionCheck check;
};

/// Called with a change that is not certain; true when it was seen for long enough to be believed.
using ConfirmsChange = std::function<bool(const PositionCheck&)>;

/// Claims `key` for `owner`. The generation grows with every claim of any group. It is taken from the
/// database's clock, so that it cannot come again after a failover that lost the last claims. Errors:
/// is_owned_elsewhere(); retryable when the broker or the database does not answer, the log's change is not
/// confirmed yet, or the partition's row changed meanwhile.
Result<Claimed> claim_partition(Store& store, PartitionLog& log, const PartitionKey& key,
                                const std::string& owner, const ConfirmsChange& confirms_change);

}  // namespace epilogue
