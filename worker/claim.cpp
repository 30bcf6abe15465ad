#include "worker/claim.h"

#include <algorithm>

#include "base/io/log.h"
#include "base/io/mysql.h"

namespace epilogue {

Result<Claim> claim_partition(Store& store, const PartitionKey& key, const std::string& cluster_id,
                              const std::string& owner, const FirstPosition& first_position) {
    std::optional<PartitionRow> seen;
    TRY_VOID(store.read([&](Transaction& transaction) -> Result<void> {
        TRY(seen, transaction.peek_partition(key));
        return {};
    }));
    NextOffset first;
    if (!seen) {
        TRY(first, first_position());  // asked of the broker before any row is locked
    }

    Claim claim;
    claim.key = key;
    claim.cluster_id = cluster_id;
    claim.owner = owner;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        const auto locked = transaction.lock_partition(key);
        if (!locked && is_conflict(locked.error()) && seen) {
            // A predecessor that was paused in the middle of a transaction holds the row: its session is
            // ended, and this transaction runs again.
            log_warn("ending the session of the partition's predecessor", {{"owner", seen->owner}});
            TRY_VOID(store.end_session(seen->connection_id));
        }
        if (!locked) return Failure(locked.error());
        TRY(const Instant now, transaction.now());
        PartitionRow row = locked->value_or(PartitionRow{});
        if (!*locked) row.next_offset = first;
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
        claim.applied_at = now;
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
