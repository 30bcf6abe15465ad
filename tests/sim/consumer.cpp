#include "tests/sim/consumer.h"

#include <algorithm>

#include "base/ids.h"

namespace epilogue::sim {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// --- the group

Result<void> SimConsumer::join(RebalanceListener listener) {
    listener_ = std::move(listener);
    broker_.join(*this);
    return {};
}

void SimConsumer::close(milliseconds) {
    give_up(false);
    broker_.drop(*this);
}

void SimConsumer::rebalance() {
    assignment_.reset();
    must_rejoin_ = true;
    wake_();
}

void SimConsumer::assign(std::uint64_t generation, std::vector<int> partitions) {
    assignment_ = Assignment{generation, std::move(partitions)};
    wake_();
}

void SimConsumer::notice_expulsion() {
    knows_expulsion_ = true;
    wake_();
}

void SimConsumer::follow_group() {
    if (std::exchange(knows_expulsion_, false)) {
        must_rejoin_ = false;
        assignment_.reset();
        give_up(true);
        is_expelled_ = false;
        broker_.join(*this);
    }
    if (must_rejoin_ && !is_cut_off()) {
        must_rejoin_ = false;
        give_up(false);
        broker_.rejoined(*this);
    }
    if (assignment_) {
        const Assignment given = *std::exchange(assignment_, std::nullopt);
        generation_ = given.generation;
        take(given.partitions);
    }
}

void SimConsumer::take(const std::vector<int>& partitions) {
    ++brought_;
    process_.schedule().say("{}: assigned {}", process_.name(), fmt::join(partitions, ","));
    for (const int partition : partitions) reading_[partition] = Reading{.epoch = next_epoch_++};
    listener_.assigned(partitions);
}

void SimConsumer::give_up(bool lost) {
    const std::vector<int> partitions = assigned();
    if (partitions.empty()) return;
    ++brought_;
    process_.schedule().say("{}: {} {}", process_.name(), lost ? "lost" : "revoked",
                            fmt::join(partitions, ","));
    listener_.revoked(partitions, lost);
    reading_.clear();
}

void SimConsumer::reset_assignment() {
    const std::vector<int> partitions = assigned();
    give_up(false);
    take(partitions);
}

std::vector<int> SimConsumer::assigned() const {
    std::vector<int> partitions;
    for (const auto& [partition, reading] : reading_) partitions.push_back(partition);
    return partitions;
}

Result<void> SimConsumer::commit(const std::map<int, NextOffset>& positions,
                                 std::optional<milliseconds> wait) {
    if (positions.empty()) return {};
    if (!wait) {
        commit_later(positions);
        return {};
    }
    process_.pass(Point::before_offset_commit);
    Schedule& schedule = process_.schedule();
    const std::uint64_t generation = generation_;  // the request names it, however late it arrives
    // It arrives behind the commits that are on their way: one connection carries them all.
    last_commit_lands_ = std::max(last_commit_lands_, schedule.now()) +
                         schedule.random.between(milliseconds{1}, milliseconds{50});
    process_.wait(last_commit_lands_ - schedule.now());
    Faults& faults = schedule.faults;
    if (is_cut_off() || faults.strikes(Fault::offset_commit_refused)) return retryable("not committed");
    for (const auto& [partition, position] : positions)
        if (!broker_.commit(*this, generation, partition, position))
            return retryable("not a member of the group's generation");
    if (faults.strikes(Fault::offset_commit_lost)) return retryable("no answer");
    return {};
}

/// Called under the lock of the partition queues: it must not wait.
void SimConsumer::commit_later(const std::map<int, NextOffset>& positions) {
    Schedule& schedule = process_.schedule();
    if (is_cut_off() || schedule.faults.strikes(Fault::offset_commit_lost)) return;
    if (schedule.faults.strikes(Fault::offset_commit_refused)) return;
    last_commit_lands_ = std::max(last_commit_lands_, schedule.now()) +
                         schedule.random.between(microseconds{100}, milliseconds{50});
    // Bytes that left arrive, even when the process stands still meanwhile.
    schedule.at(last_commit_lands_,
                [self = process_.shared_from_this(), this, positions, generation = generation_] {
                    if (!self->alive()) return;
                    for (const auto& [partition, position] : positions)
                        broker_.commit(*this, generation, partition, position);
                });
}

// --- what is asked of the broker

Result<std::optional<NextOffset>> SimConsumer::committed(int partition, milliseconds) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    return broker_.committed(partition);
}

Result<Watermarks> SimConsumer::watermarks(int partition, milliseconds) {
    process_.interleave();
    if (is_cut_off() || process_.schedule().faults.strikes(Fault::watermarks_fail))
        return retryable("no broker answers");
    return Watermarks{broker_.low(partition), static_cast<std::int64_t>(broker_.log(partition).size())};
}

Result<int> SimConsumer::partitions(milliseconds) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    return broker_.partitions();
}

Result<void> SimConsumer::check(milliseconds) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    return {};
}

Result<std::optional<RecordFingerprint>> SimConsumer::record_at(int partition, Offset offset, milliseconds) {
    process_.interleave();
    if (is_cut_off()) return retryable("no broker answers");
    const auto& records = broker_.log(partition);
    if (offset.value < broker_.low(partition) || offset.value >= static_cast<std::int64_t>(records.size()))
        return std::optional<RecordFingerprint>();
    const LogRecord& record = records[static_cast<std::size_t>(offset.value)];
    return std::optional(RecordFingerprint{offset, crc32_of(record.value), record.timestamp});
}

// --- reading

Polled SimConsumer::poll(milliseconds) {
    follow_group();
    if (std::exchange(lost_connection_, false)) return KafkaError{"no broker answers"};
    if (std::exchange(out_of_range_, false))
        return KafkaError{"out of range", KafkaError::Kind::out_of_range};
    for (auto& [partition, reading] : reading_) {
        if (!reading.has_news()) continue;
        ++brought_;
        if (reading.position == reading.fetched_until)
            return EndOfPartition{partition, *std::exchange(reading.end_reached, std::nullopt)};
        const LogRecord& record = broker_.log(partition)[static_cast<std::size_t>(reading.position)];
        const RecordView view{partition,    Offset{reading.position}, record.key,
                              record.value, record.timestamp,         record.marks};
        ++reading.position;
        return Record(view, Record::Keep(nullptr, [](void*) {}));
    }
    return std::monostate{};
}

bool SimConsumer::has_news() const {
    return knows_expulsion_ || (must_rejoin_ && !is_cut_off()) || assignment_ || lost_connection_ ||
           out_of_range_ ||
           std::any_of(reading_.begin(), reading_.end(), [](const auto& r) { return r.second.has_news(); });
}

bool SimConsumer::has_paused() const {
    return std::any_of(reading_.begin(), reading_.end(), [](const auto& r) { return r.second.paused; });
}

Result<void> SimConsumer::seek(int partition, NextOffset position) {
    process_.interleave();
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return retryable("not assigned");
    found->second = {.position = position.value, .fetched_until = position.value, .epoch = next_epoch_++};
    return {};
}

/// What was fetched and not polled is fetched again later.
Result<void> SimConsumer::pause(int partition) {
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return retryable("not assigned");
    Reading& reading = found->second;
    reading.paused = true;
    reading.fetched_until = reading.position;
    reading.end_reached.reset();
    return {};
}

Result<void> SimConsumer::resume(int partition) {
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return retryable("not assigned");
    found->second.paused = false;
    fetch_soon(partition);
    return {};
}

void SimConsumer::appended(int partition) {
    fetch_soon(partition);
}

void SimConsumer::fetch_soon(int partition) {
    const auto found = reading_.find(partition);
    if (found == reading_.end()) return;
    Reading& reading = found->second;
    if (reading.paused || std::exchange(reading.fetching, true)) return;
    Schedule& schedule = process_.schedule();
    const bool slow = schedule.faults.strikes(Fault::slow_fetch);
    process_.after(
        schedule.random.between(milliseconds{1}, slow ? Micros(seconds{8}) : Micros(milliseconds{60})),
        [this, partition, epoch = reading.epoch] { fetch(partition, epoch); });
}

void SimConsumer::fetch(int partition, std::uint64_t epoch) {
    const auto found = reading_.find(partition);
    if (found == reading_.end() || found->second.epoch != epoch) return;
    Reading& reading = found->second;
    reading.fetching = false;
    if (reading.paused) return;
    Schedule& schedule = process_.schedule();
    if (is_cut_off()) {
        reading.fetching = true;
        process_.after(seconds{1}, [this, partition, epoch] { fetch(partition, epoch); });
        return;
    }
    if (reading.position < broker_.low(partition)) {
        out_of_range_ = true;
        wake_();
        return;
    }
    if (reading.position > 0 && schedule.faults.strikes(Fault::redelivery))
        reading.position = std::max(broker_.low(partition), reading.position - schedule.random.between(1, 5));
    const auto end = static_cast<std::int64_t>(broker_.log(partition).size());
    reading.fetched_until = std::min(end, reading.fetched_until + schedule.random.between(1, 40));
    if (reading.fetched_until == end) reading.end_reached = NextOffset{end};
    if (reading.fetched_until < end) fetch_soon(partition);
    wake_();
}

// --- the connection

void SimConsumer::cut_off(Micros time) {
    cut_off_until_ = process_.schedule().now() + time;
    lost_connection_ = true;
    wake_();
    process_.after(time, [this] { wake_(); });
}

}  // namespace epilogue::sim
