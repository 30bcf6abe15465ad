// Taking a partition over: a new generation, from which moment every older owner's transaction fails.
#pragma once

#include <functional>

#include "worker/batch.h"

namespace epilogue {

/// Says where a partition that was never claimed starts, or why it cannot be started.
using FirstPosition = std::function<Result<NextOffset>()>;

/// Claims `key` for `owner`. The generation grows with every claim and, as it is taken from the database's
/// clock, cannot come again after a failover that lost the last claims.
Result<Claim> claim_partition(Store& store, const PartitionKey& key, const std::string& cluster_id,
                              const std::string& owner, const FirstPosition& first_position);

}  // namespace epilogue
