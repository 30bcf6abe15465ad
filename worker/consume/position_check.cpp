#include "worker/consume/position_check.h"

#include <algorithm>

namespace epilogue {
namespace {

std::string text(std::int64_t number) {
    return std::to_string(number);
}

/// Why records are not what they were, where the topic's id does not say that it is another one.
std::string cause(const StoredPosition& stored, const LogState& state) {
    const bool is_same_topic = !state.topic_id.empty() && stored.topic_id == state.topic_id;
    return is_same_topic
               ? "the log was cut off (the topic is the same one: a replica that was behind leads it)"
               : "the topic was made anew";
}

PositionCheck replaced(const LogState& state, std::string why) {
    return {{state.marks.low}, LogChange::replaced, std::move(why)};
}

}  // namespace

bool is_other_id(const std::string& stored, const std::string& seen) {
    return !stored.empty() && !seen.empty() && stored != seen;
}

Result<LogState> inspect_log(PartitionLog& log, int partition, const StoredPosition& stored) {
    LogState state;
    state.cluster_id = log.cluster_id();
    state.topic_id = log.topic_id();  // first: a topic that is made anew meanwhile is noticed the next time
    TRY(state.marks, log.watermarks(partition));
    const auto& anchor = stored.anchor;
    const bool is_kept =
        anchor && anchor->offset.value >= state.marks.low && anchor->offset.value < state.marks.high;
    if (is_kept && !is_other_id(stored.cluster_id, state.cluster_id) &&
        !is_other_id(stored.topic_id, state.topic_id)) {
        TRY(state.anchor, log.record_at(partition, anchor->offset));
    }
    return state;
}

PositionCheck check_position(const StoredPosition& stored, const LogState& state) {
    const auto& [low, high] = state.marks;
    const std::int64_t position = stored.position.value;
    if (is_other_id(stored.cluster_id, state.cluster_id))
        return replaced(state, "another cluster: it is " + state.cluster_id + ", and was " +
                                   stored.cluster_id + "; read from offset " + text(low));
    if (is_other_id(stored.topic_id, state.topic_id))
        return replaced(state, "the topic was made anew: its id is " + state.topic_id + ", and was " +
                                   stored.topic_id + "; read from offset " + text(low));
    if (stored.anchor && state.anchor && *state.anchor != *stored.anchor)
        return replaced(state, cause(stored, state) + ": the record at offset " +
                                   text(stored.anchor->offset.value) + " is another one; read from offset " +
                                   text(low));
    if (high < position) {
        PositionCheck shorter = replaced(state, cause(stored, state) + ": the log ends at offset " +
                                                    text(high) + ", before the stored position " +
                                                    text(position) + "; read from offset " + text(low));
        shorter.is_certain = false;
        return shorter;
    }
    // Between the last record read and the end that was seen there are only control records, which no
    // consumer is given.
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
