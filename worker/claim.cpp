#include "worker/claim.h"

#include <algorithm>

namespace epilogue {

Result<Claim> claim_partition(Store& store, const PartitionKey& key, const std::string& cluster_id,
                              const std::string& owner, const FirstPosition& first_position) {
    // The broker is asked before the row is locked: no lock is held over a network call.
    bool known = false;
    TRY_VOID(store.read([&](Transaction& transaction) -> Result<void> {
        TRY(const auto row, transaction.lock_partition(key));
        known = row.has_value();
        return {};
    }));
    NextOffset first;
    if (!known) {
        TRY(first, first_position());
    }

    Claim claim{key, cluster_id, owner, {}, {}, 0, {}, {}};
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto locked, transaction.lock_partition(key));
        TRY(const Instant now, transaction.now());
        PartitionRow row = locked.value_or(PartitionRow{});
        if (!locked) row.next_offset = first;
        row.generation = {std::max(row.generation.value + 1, std::int64_t{now.time_since_epoch().count()})};
        row.cluster_id = cluster_id;
        row.owner = owner;
        row.connection_id = transaction.connection_id();
        TRY_VOID(transaction.put_partition(key, row));
        TRY(claim.next_due, transaction.next_due(key.partition));
        claim.generation = row.generation;
        claim.position = row.next_offset;
        claim.sequence = row.sequence;
        claim.clock = row.clock;
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.lock_partition(key));
        return row && row->generation == claim.generation && row->owner == owner;
    };
    TRY_VOID(store.transact(work, is_done));
    return claim;
}

}  // namespace epilogue
