#include "worker/consume/claim_partition.h"

#include <algorithm>

#include "base/io/log.h"
#include "base/io/mysql.h"
#include "base/mutant.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/gap_rows.h"
#include "worker/store/partition_rows.h"

namespace epilogue {
namespace {

/// An owner that has not written its row for so long is taken to be gone: a live one writes it every 20 s.
constexpr std::chrono::seconds silent_after{45};

StoredPosition stored_position(const PartitionRow& row) {
    return {row.cluster_id, row.next_offset, row.caught_up_offset, row.anchor ? row.anchor : row.last,
            row.topic_id};
}

/// The row as it was before the broker was asked, and what follows from the broker's answer.
struct Inspection {
    std::optional<PartitionRow> row;
    std::optional<int> first_partitions;  ///< the topic's count when it was first seen
    std::string cluster_id;
    std::string topic_id;
    PositionCheck check;
};

/// Whether there were, or may have been, records that were never read.
bool loses_records(const PositionCheck& check) {
    return check.change == LogChange::gap || check.change == LogChange::replaced;
}

Result<PositionCheck> first_position_check(PartitionLog& log, int partition,
                                           std::optional<int> first_partitions) {
    if (first_partitions && partition >= *first_partitions) {
        TRY(const Watermarks marks, log.watermarks(partition));
        return PositionCheck{{marks.low},
                             LogChange::added,
                             "added to the topic, which had " + std::to_string(*first_partitions) +
                                 (*first_partitions == 1 ? " partition" : " partitions") +
                                 " when it was first seen; read from offset " + std::to_string(marks.low)};
    }
    TRY(const NextOffset position, log.first_position(partition));
    return PositionCheck{position};
}

/// Asks the broker before any row is locked, so that no lock is held while it answers.
Result<Inspection> inspect(Store& store, PartitionLog& log, const PartitionKey& key) {
    Inspection seen;
    TRY_VOID(store.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(seen.row, transaction.partitions().read(key));
        TRY(seen.first_partitions, transaction.partitions().first_count(key.topic));
        return {};
    }));
    if (seen.row) {
        const StoredPosition stored = stored_position(*seen.row);
        TRY(const LogState state, inspect_log(log, key.partition, stored));
        seen.cluster_id = state.cluster_id;
        seen.topic_id = state.topic_id;
        seen.check = check_position(stored, state);
    } else {
        seen.cluster_id = log.cluster_id();
        seen.topic_id = log.topic_id();
        TRY(seen.check, first_position_check(log, key.partition, seen.first_partitions));
    }
    if (!seen.first_partitions) {
        TRY(seen.first_partitions, log.partitions());
    }
    return seen;
}

/// Errors: is_owned_elsewhere(). Two groups, or two clusters, must not share a partition's row while both are
/// alive.
Result<void> check_owner(const PartitionRow& row, const PartitionKey& key, const std::string& cluster_id,
                         const std::string& owner, Instant now) {
    const bool other_group = row.group != key.group;
    if ((!other_group && !is_other_id(row.cluster_id, cluster_id)) || row.owner == owner) return {};
    const Instant claimed_at{Micros{row.generation.value}};
    const Instant alive_at = std::min(now, std::max(claimed_at, row.touched_at.value_or(claimed_at)));
    if (now - alive_at >= silent_after) return {};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - alive_at).count();
    return failure(Remedy::retry, Cause::owned_elsewhere,
                   (other_group ? "group " + row.group : "cluster " + row.cluster_id) +
                       " is read into the same tables by " + row.owner + ", last seen " +
                       std::to_string(seconds) +
                       " s ago: each needs tables of its own; this worker goes on from there when that one "
                       "has been silent for " +
                       std::to_string(silent_after.count()) + " s");
}

/// Writes position and anchor of the claim into `row`, which is locked. Errors: retryable, the row changed
/// while the broker was asked, and the answer no longer fits it.
Result<void> move_position(PositionCheck& check, PartitionRow& row, const Inspection& seen,
                           const PartitionKey& key, Instant now) {
    const NextOffset before = row.next_offset;
    const bool as_seen = row.generation == seen.row->generation && row.sequence == seen.row->sequence;
    if (!as_seen) {
        if (check.change != LogChange::none)
            return retryable("the partition moved while its log was looked at: looking again");
        check.position = before;
    } else if (check.change == LogChange::none) {
        // The old anchor was found in its place, so the last record applied is of the same log.
        row.anchor = row.last;
    } else {
        row.anchor.reset();
        row.caught_up_offset.reset();
    }
    if (check.change == LogChange::replaced) row.last.reset();
    const bool is_id_stale = check.change == LogChange::replaced || !seen.topic_id.empty();
    if (as_seen && is_id_stale) row.topic_id = seen.topic_id;
    if (row.group != key.group && check.change == LogChange::none) {
        check.change = LogChange::group;
        check.why = "taken over from group " + row.group + ", at offset " + std::to_string(before.value);
    }
    row.next_offset = check.position;
    if (check.change != LogChange::none) row.reset = PositionReset{now, before, check.why};
    if (loses_records(check)) row.gap_at = now;
    return {};
}

/// Notes that records were lost, for those whose conversation may lie among them.
Result<void> note_gap(Transaction& transaction, const PositionCheck& check, const PartitionKey& key,
                      NextOffset stored, Instant now) {
    if (!loses_records(check) || mutant(Mutant::gap_not_asked_about)) return {};
    GapRow gap;
    gap.topic = key.topic;
    gap.partition = key.partition;
    gap.from = stored;
    if (check.change == LogChange::gap) {
        gap.from = {check.position.value - check.lost};
        gap.to = check.position;
    }
    gap.why = check.why;
    gap.noticed_at = now;
    return transaction.gaps().insert(gap);
}

}  // namespace

Result<Claimed> claim_partition(Store& store, PartitionLog& log, const PartitionKey& key,
                                const std::string& owner, const ConfirmsChange& confirms_change) {
    TRY(const Inspection seen, inspect(store, log, key));
    if (!seen.check.is_certain && !confirms_change(seen.check))
        return retryable("the log ends before the stored position " +
                         std::to_string(seen.row->next_offset.value) + ": looking again");

    Claimed claimed{{}, seen.check};
    Claim& claim = claimed.claim;
    claim.key = key;
    claim.owner = owner;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        const auto locked = transaction.partitions().lock(key);
        if (!locked && is_conflict(locked.error()) && seen.row) {
            // The predecessor was paused in the middle of a transaction and holds the row: its session is
            // ended, and this transaction runs again.
            log_warn("ending the session of the partition's predecessor", {{"owner", seen.row->owner}});
            TRY_VOID(store.end_session(seen.row->connection_id));
        }
        if (!locked) return Failure(locked.error());
        if (locked->has_value() != seen.row.has_value())
            return retryable("the partition was claimed while its log was looked at: looking again");
        TRY(const Instant now, transaction.now());
        PartitionRow row = locked->value_or(PartitionRow{});
        claimed.check = seen.check;
        if (*locked) {
            TRY_VOID(check_owner(row, key, seen.cluster_id, owner, now));
            const NextOffset stored = row.next_offset;
            TRY_VOID(move_position(claimed.check, row, seen, key, now));
            TRY_VOID(note_gap(transaction, claimed.check, key, stored, now));
        } else {
            row.next_offset = seen.check.position;
            row.topic_id = seen.topic_id;
            if (seen.check.change != LogChange::none)
                row.reset = PositionReset{now, row.next_offset, seen.check.why};
        }
        row.generation = {std::max(row.generation.value + 1, std::int64_t{now.time_since_epoch().count()})};
        row.group = key.group;
        if (!seen.cluster_id.empty()) row.cluster_id = seen.cluster_id;
        row.first_partitions = seen.first_partitions;
        row.owner = owner;
        row.connection_id = transaction.connection_id();
        TRY_VOID(transaction.partitions().update(key, row));
        TRY(claim.next_due, transaction.conversations().next_due(key.partition));
        claim.cluster_id = row.cluster_id;
        claim.topic_id = row.topic_id;
        claim.generation = row.generation;
        claim.position = row.next_offset;
        claim.sequence = row.sequence;
        claim.clock = row.clock;
        claim.applied_at = now;
        claim.last = row.last;
        claim.anchor = row.anchor;
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.partitions().lock(key));
        return row && row->generation == claim.generation && row->owner == owner;
    };
    TRY_VOID(store.transact(work, is_done));
    return claimed;
}

}  // namespace epilogue
