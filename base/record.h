// One record of a log, as it was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/instant.h"
#include "base/named.h"

namespace epilogue {

/// What a record's headers say of the event in it. (docs/contract.md §3)
struct RecordMarks {
    std::optional<std::int64_t> seq = {};  ///< the event's index in its server's log
    bool run_over = false;                 ///< it is the `full_state` of the end of a run
};

/// A record's parts; the views' bytes belong to another object.
struct RecordView {
    int partition = 0;
    Offset offset;
    std::string_view key;    ///< data() is nullptr: none
    std::string_view value;  ///< data() is nullptr: tombstone
    Instant timestamp;       ///< the epoch when it has none
    RecordMarks marks = {};

    std::size_t bytes() const { return key.size() + value.size(); }
};

/// What tells one record from another that has its offset in another log.
struct RecordFingerprint {
    Offset offset;
    std::int64_t crc = 0;  ///< CRC-32 of the value
    Instant timestamp;
    bool operator==(const RecordFingerprint&) const = default;
};

/// A record that keeps alive what its views show.
struct Record : RecordView {
    using Keep = std::unique_ptr<void, void (*)(void*)>;
    Record(const RecordView& view, Keep what) : RecordView(view), keep(std::move(what)) {}
    Keep keep;
};

}  // namespace epilogue
