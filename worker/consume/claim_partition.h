// Taking a partition over: a new generation, from which moment every older owner's transaction fails; and the
// one moment at which a position can move other than by reading on.
#pragma once

#include <functional>

#include "worker/apply/batch.h"
#include "worker/consume/position_check.h"
#include "worker/store/partition_rows.h"

namespace epilogue {

/// The partition is read into these tables by another group, or from another cluster, by somebody who is
/// alive.
constexpr int held_by_others_code = -423;
inline bool is_held_by_others(const Error& error) {
    return error.code == held_by_others_code;
}

struct Claimed {
    Claim claim;
    Bearing bearing;
};

/// Told of a change that is not certain; true when it has been seen for long enough to be one.
using Patience = std::function<bool(const Bearing&)>;

/// Claims `key` for `owner`. The generation grows with every claim, whichever group makes it, and, as it is
/// taken from the database's clock, cannot come again after a failover that lost the last claims. Errors:
/// is_held_by_others; retryable, when the broker or the database do not answer, or the partition moved
/// meanwhile.
Result<Claimed> claim_partition(Store& store, Log& log, const PartitionKey& key, const std::string& owner,
                                const Patience& patience);

}  // namespace epilogue
