// Whether a partition's log is still the one that the stored position belongs to, and where reading goes on
// when it is not. Brokers number a topic that was made anew from 0 again. Its id tells; where the broker or
// the client knows no ids, a record that is known to be of the log (the anchor) is read again and compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "worker/consume/partition_log.h"

namespace epilogue {

/// What is stored of a partition, as far as it tells which log it was.
struct StoredPosition {
    std::string cluster_id;
    NextOffset position;
    std::optional<NextOffset> caught_up;      ///< the log's end when nothing was left to read
    std::optional<RecordFingerprint> anchor;  ///< a record that is known to be of the log
    std::string topic_id{};                   ///< empty: not known
};

/// What the broker says of a partition now.
struct LogState {
    std::string cluster_id;  ///< empty: not known
    Watermarks marks;
    std::optional<RecordFingerprint> anchor;  ///< the record at the anchor's offset, when there is one
    std::string topic_id{};                   ///< empty: not known
};

/// Why a position moves other than by reading on.
enum class LogChange {
    none,
    gap,  ///< retention removed records that were never read
    /// The topic was made anew, its log was cut off, or it is another cluster: it is read from its beginning.
    replaced,
    group,  ///< another group's position in these tables was taken over
    added,  ///< the partition did not exist when the topic was first seen
};

/// The outcome of comparing what is stored with what the broker has.
struct PositionCheck {
    NextOffset position;  ///< where reading goes on
    LogChange change = LogChange::none;
    std::string why{};       ///< text for operators; empty without a change
    std::int64_t lost = 0;   ///< offsets that were never read
    bool is_certain = true;  ///< false: a new leader may not know its log's end yet; the caller checks again
};

/// True when both ids are known and differ.
bool is_other_id(const std::string& stored, const std::string& seen);

/// Asks the broker for what check_position() compares. Errors: retryable, no broker answers.
Result<LogState> inspect_log(PartitionLog& log, int partition, const StoredPosition& stored);

/// Compares what is stored with what the broker has; asks nothing.
PositionCheck check_position(const StoredPosition& stored, const LogState& state);

}  // namespace epilogue
