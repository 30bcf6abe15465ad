#include "worker/consume/position_check.h"

#include <algorithm>

namespace epilogue {
namespace {

std::string text(std::int64_t number) {
    return std::to_string(number);
}

Bearing replaced(const LogSight& sight, std::string why) {
    return {{sight.marks.low}, LogChange::replaced, std::move(why)};
}

}  // namespace

bool is_other_cluster(const std::string& stored, const std::string& seen) {
    return !stored.empty() && !seen.empty() && stored != seen;
}

Result<LogSight> look_at(Log& log, int partition, const StoredPosition& stored) {
    LogSight sight;
    sight.cluster_id = log.cluster_id();
    TRY(sight.marks, log.watermarks(partition));
    const auto& anchor = stored.anchor;
    const bool is_there =
        anchor && anchor->offset.value >= sight.marks.low && anchor->offset.value < sight.marks.high;
    if (is_there && !is_other_cluster(stored.cluster_id, sight.cluster_id)) {
        TRY(sight.anchor, log.record_at(partition, anchor->offset));
    }
    return sight;
}

Bearing take_bearing(const StoredPosition& stored, const LogSight& sight) {
    const auto& [low, high] = sight.marks;
    const std::int64_t position = stored.position.value;
    if (is_other_cluster(stored.cluster_id, sight.cluster_id))
        return replaced(sight, "another cluster: it is " + sight.cluster_id + ", and was " +
                                   stored.cluster_id + "; read from offset " + text(low));
    if (stored.anchor && sight.anchor && *sight.anchor != *stored.anchor)
        return replaced(sight, "the topic was made anew: the record at offset " +
                                   text(stored.anchor->offset.value) + " is another one; read from offset " +
                                   text(low));
    if (high < position) {
        Bearing shorter = replaced(sight, "the topic was made anew: the log ends at offset " + text(high) +
                                              ", before the stored position " + text(position) +
                                              "; read from offset " + text(low));
        shorter.is_certain = false;
        return shorter;
    }
    // What lies between the last record read and the end that was seen is nothing a consumer is given.
    const std::int64_t read = std::max(position, stored.caught_up.value_or(NextOffset{}).value);
    if (low > read)
        return {{low},
                LogChange::gap,
                "retention passed us: offsets " + text(read) + " to " + text(low - 1) +
                    " are gone and were never read; read from offset " + text(low),
                low - read};
    return {{std::max(position, low)}};
}

}  // namespace epilogue
