#include "tests/sim/consumer.h"

#include <algorithm>

#include "base/ids.h"

namespace epilogue::sim {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// --- the loop's side
// ----------------------------------------------------------------------------------------

Result<NextOffset> SimLog::first_position(int partition) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    return broker_.committed(partition).value_or(NextOffset{0});
}

Result<int> SimLog::partitions() {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    return broker_.partitions();
}

Result<std::optional<RecordFingerprint>> SimLog::record_at(int partition, Offset offset) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    const auto& records = broker_.log(partition);
    if (offset.value < 0 || offset.value >= static_cast<std::int64_t>(records.size()))
        return std::optional<RecordFingerprint>();
    const LogRecord& record = records[static_cast<std::size_t>(offset.value)];
    return std::optional(RecordFingerprint{offset, crc32_of(record.value), record.timestamp});
}

Result<void> SimLog::read_from(int partition, NextOffset position) {
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return retryable("not assigned");
    Reading& reading = found->second;
    reading.position = position.value;
    reading.active = true;
    reading.full = false;
    reading.epoch = next_epoch_++;
    reading.fetching = false;
    fetch_soon(partition);
    return {};
}

void SimLog::stop_reading(int partition) {
    const auto found = reading_.find(partition);
    if (found != reading_.end()) found->second.active = false;
}

Result<Watermarks> SimLog::watermarks(int partition) {
    process_.interleave();
    if (is_cut_off() || process_.schedule().faults.strikes(Fault::watermarks_fail))
        return retryable("no broker answers");
    return Watermarks{0, static_cast<std::int64_t>(broker_.log(partition).size())};
}

void SimLog::commit(const std::map<int, NextOffset>& positions) {
    // Called under the lanes' lock: it may not wait.
    Schedule& schedule = process_.schedule();
    if (is_cut_off() || schedule.faults.strikes(Fault::offset_commit_lost)) return;
    if (schedule.faults.strikes(Fault::offset_commit_refused)) return;
    last_commit_lands_ = std::max(last_commit_lands_, schedule.now()) +
                         schedule.random.between(microseconds{100}, milliseconds{50});
    // Bytes that left arrive, even when the process dies meanwhile.
    schedule.at(last_commit_lands_,
                [self = process_.shared_from_this(), this, positions, generation = generation_] {
                    if (!self->alive()) return;
                    for (const auto& [partition, position] : positions)
                        broker_.commit(*this, generation, partition, position);
                });
}

Result<void> SimLog::commit_and_wait(int partition, NextOffset position) {
    process_.pass(Point::before_offset_commit);
    Schedule& schedule = process_.schedule();
    // Behind those that are on their way: one connection carries them all.
    last_commit_lands_ = std::max(last_commit_lands_, schedule.now()) +
                         schedule.random.between(milliseconds{1}, milliseconds{50});
    process_.wait(last_commit_lands_ - schedule.now());
    Faults& faults = schedule.faults;
    if (is_cut_off() || faults.strikes(Fault::offset_commit_refused)) return retryable("not committed");
    if (!broker_.commit(*this, generation_, partition, position))
        return retryable("not a member of the group's generation");
    if (faults.strikes(Fault::offset_commit_lost)) return retryable("no answer");
    return {};
}

// --- the poll thread's side
// ---------------------------------------------------------------------------------

void SimLog::assigned(const std::vector<int>& partitions) {
    generation_ = broker_.generation();
    for (const int partition : partitions) reading_[partition] = Reading{};
    process_.schedule().say("{}: assigned {}", process_.name(), fmt::join(partitions, ","));
    queues_.open(partitions);
    news_();
}

void SimLog::revoked(bool lost) {
    std::vector<int> partitions;
    for (const auto& [partition, reading] : reading_) partitions.push_back(partition);
    reading_.clear();
    if (partitions.empty()) return;
    process_.schedule().say("{}: {} {}", process_.name(), lost ? "lost" : "revoked",
                            fmt::join(partitions, ","));
    const auto stored = queues_.close(partitions);
    Faults& faults = process_.schedule().faults;
    if (lost || faults.strikes(Fault::offset_commit_refused)) return;
    for (const auto& [partition, position] : stored) broker_.commit(*this, generation_, partition, position);
}

void SimLog::partitions_to_resume() {
    for (const int partition : queues_.partitions_to_resume()) {
        const auto found = reading_.find(partition);
        if (found == reading_.end()) continue;
        found->second.full = false;
        fetch_soon(partition);
    }
}

void SimLog::appended(int partition) {
    fetch_soon(partition);
}

void SimLog::fetch_soon(int partition) {
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return;
    Reading& reading = found->second;
    if (!reading.active || reading.full || std::exchange(reading.fetching, true)) return;
    Schedule& schedule = process_.schedule();
    const bool slow = schedule.faults.strikes(Fault::slow_fetch);
    process_.after(
        schedule.random.between(milliseconds{1}, slow ? Micros(seconds{8}) : Micros(milliseconds{60})),
        [this, partition, epoch = reading.epoch] { fetch(partition, epoch); });
}

void SimLog::fetch(int partition, std::uint64_t epoch) {
    const auto found = reading_.find(partition);
    if (found == reading_.end() || found->second.epoch != epoch) return;
    Reading& reading = found->second;
    reading.fetching = false;
    if (!reading.active || reading.full) return;
    Schedule& schedule = process_.schedule();
    if (is_cut_off()) {
        reading.fetching = true;
        process_.after(seconds{1}, [this, partition, epoch] { fetch(partition, epoch); });
        return;
    }
    const auto& records = broker_.log(partition);
    if (reading.position > 0 && schedule.faults.strikes(Fault::redelivery))
        reading.position = std::max<std::int64_t>(0, reading.position - schedule.random.between(1, 5));
    const auto end = static_cast<std::int64_t>(records.size());
    const std::int64_t until = std::min(end, reading.position + schedule.random.between(1, 40));
    while (reading.position < until && !reading.full) {
        const LogRecord& record = records[static_cast<std::size_t>(reading.position)];
        RecordView view{partition, Offset{reading.position}, record.key, record.value, record.timestamp};
        ++reading.position;
        reading.full =
            queues_.push(Record(view, Record::Keep(nullptr, [](void*) {}))) == PartitionQueues::Room::full;
    }
    if (reading.position == end) queues_.on_partition_eof({partition, NextOffset{end}});
    if (reading.position < end) fetch_soon(partition);
    news_();
}

void SimLog::cut_off(Micros time) {
    cut_off_until_ = process_.schedule().now() + time;
}

}  // namespace epilogue::sim
