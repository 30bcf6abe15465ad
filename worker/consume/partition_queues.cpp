#include "worker/consume/partition_queues.h"

#include <algorithm>
#include <type_traits>

namespace epilogue {
namespace {

constexpr std::chrono::milliseconds timer_check_every{100};
constexpr std::chrono::milliseconds growth_check{1};
/// A paused partition is resumed when fewer records than this are left, however small its batches are: the
/// poll thread looks for room only between two polls, and the loop must not run dry meanwhile.
constexpr std::size_t least_resume_below = 500;
constexpr std::chrono::seconds commit_all_every{5};
constexpr std::chrono::seconds heartbeat_every{20};  // well under the minute that counts as an outage
/// A replaced log must be noticed within a minute.
constexpr std::chrono::seconds verify_log_every{15};

}  // namespace

void PartitionQueues::assign(const std::vector<int>& partitions) {
    const std::lock_guard lock(mutex_);
    for (const int partition : partitions) {
        PartitionQueue queue;
        queue.epoch = next_epoch_++;
        queues_.insert_or_assign(partition, std::move(queue));
    }
    changed_.notify_all();
}

std::map<int, NextOffset> PartitionQueues::revoke(const std::vector<int>& partitions) {
    const std::lock_guard lock(mutex_);
    std::map<int, NextOffset> stored;
    for (const int partition : partitions) {
        const auto queue = queues_.find(partition);
        if (queue == queues_.end()) continue;
        if (queue->second.claim) stored[partition] = queue->second.claim->position;
        queues_.erase(queue);
    }
    return stored;
}

PartitionQueues::After PartitionQueues::push(Record record) {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(record.partition);
    if (found == queues_.end()) return After::keep_reading;
    PartitionQueue& queue = found->second;
    if (!queue.claim || (queue.last_read && record.offset <= *queue.last_read)) return After::keep_reading;
    queue.last_read = record.offset;
    queue.bytes += record.bytes();
    queue.records.push_back(std::move(record));
    if (queue.records.size() == 1) changed_.notify_one();  // the loop that takes it sees how it grows
    const bool full = queue.records.size() >= 2 * resume_below() || queue.bytes >= 2 * limits_.batch_bytes;
    if (!full || queue.paused) return After::keep_reading;
    queue.paused = true;
    return After::pause;
}

void PartitionQueues::on_partition_eof(const EndOfPartition& end) {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(end.partition);
    if (found == queues_.end() || !found->second.claim) return;
    found->second.end_seen = end.position;
    changed_.notify_all();
}

/// A paused partition is resumed when its queue holds fewer records than this.
std::size_t PartitionQueues::resume_below() const {
    return std::max(limits_.batch_records, least_resume_below);
}

std::vector<int> PartitionQueues::partitions_to_resume() {
    const std::lock_guard lock(mutex_);
    std::vector<int> refilled;
    for (auto& [partition, queue] : queues_) {
        if (!queue.paused || queue.records.size() >= resume_below() || queue.bytes >= limits_.batch_bytes)
            continue;
        queue.paused = false;
        refilled.push_back(partition);
    }
    return refilled;
}

PartitionWork PartitionQueues::next(std::chrono::milliseconds wait, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto until = clock_.steady() + wait;
    while (!stop.stop_requested()) {
        const auto now = clock_.steady();
        if (auto work = work_locked(now)) {
            auto* batch = std::get_if<BatchReady>(&*work);
            if (batch == nullptr) return std::move(*work);
            if (!grow(lock, batch->assignment, std::min(now + limits_.batch_wait, until))) {
                in_hand_.erase(batch->assignment.partition);
                continue;
            }
            batch->records = take_batch(*find(batch->assignment));
            return std::move(*work);
        }
        if (now >= until) break;
        changed_.wait_until(lock, std::min(until, now + timer_check_every));
    }
    return std::monostate{};
}

/// While records keep coming, a fuller batch costs the same commit: waits for them. False when the assignment
/// has ended meanwhile.
bool PartitionQueues::grow(std::unique_lock<std::mutex>& lock, const AssignmentId& assignment,
                           SteadyTime until) {
    std::size_t before = 0;
    for (const PartitionQueue* queue = find(assignment); queue != nullptr; queue = find(assignment)) {
        const std::size_t records = queue->records.size();
        const bool is_full = records >= limits_.batch_records || queue->bytes >= limits_.batch_bytes;
        if (is_full || records == before || clock_.steady() >= until) return true;
        before = records;
        grows_.wait_for(lock, growth_check);
    }
    return false;
}

/// The work of the first partition after the last served one that has any. The lock is held.
std::optional<PartitionWork> PartitionQueues::work_locked(SteadyTime now) {
    std::vector<std::pair<const int, PartitionQueue>*> order;
    for (auto& queue : queues_) order.push_back(&queue);
    const auto after =
        std::find_if(order.begin(), order.end(), [this](const auto* q) { return q->first > last_served_; });
    std::rotate(order.begin(), after, order.end());
    for (auto* entry : order) {
        auto& [partition, queue] = *entry;
        if (now < queue.not_before || in_hand_.contains(partition)) continue;
        auto work = work_of(partition, queue, now);
        if (!work) continue;
        in_hand_.insert(partition);
        return work;
    }
    return std::nullopt;
}

std::optional<PartitionWork> PartitionQueues::work_of(int partition, PartitionQueue& queue, SteadyTime now) {
    const AssignmentId id{partition, queue.epoch};
    if (!queue.claim) return NeedsClaim{id, queue.was_fenced};
    if (now - queue.log_verified >= verify_log_every) {
        queue.log_verified = now;
        return VerifyLogDue{id, *queue.claim};
    }
    const bool heartbeat =
        queue.records.empty() && now - queue.row_written >= heartbeat_every && now >= queue.timer_not_before;
    if (heartbeat || timer_is_near(queue, now)) {
        queue.timer_not_before = now + timer_check_every;
        return TimersDue{id, *queue.claim, queue.records.empty(), heartbeat, queue.end_seen};
    }
    if (queue.records.empty()) return std::nullopt;
    last_served_ = partition;
    return BatchReady{id, *queue.claim, {}};
}

/// True when a timer is due by the partition's own clock; or, while nothing is queued, by this machine's
/// clock, which only decides whether it is worth asking the broker and the database.
bool PartitionQueues::timer_is_near(const PartitionQueue& queue, SteadyTime now) const {
    const Claim& claim = *queue.claim;
    if (!claim.next_due || now < queue.timer_not_before) return false;
    if (claim.clock && *claim.next_due <= *claim.clock) return true;
    return queue.records.empty() && *claim.next_due <= clock_.wall();
}

std::vector<Record> PartitionQueues::take_batch(PartitionQueue& queue) const {
    std::vector<Record> batch;
    std::size_t bytes = 0;
    while (!queue.records.empty() && batch.size() < limits_.batch_records) {
        const std::size_t next = queue.records.front().bytes();
        if (!batch.empty() && bytes + next > limits_.batch_bytes) break;
        bytes += next;
        queue.bytes -= next;
        batch.push_back(std::move(queue.records.front()));
        queue.records.pop_front();
    }
    return batch;
}

void PartitionQueues::release(const PartitionWork& work) {
    const auto partition = std::visit(
        [](const auto& of) -> std::optional<int> {
            if constexpr (std::is_same_v<std::decay_t<decltype(of)>, std::monostate>)
                return std::nullopt;
            else
                return of.assignment.partition;
        },
        work);
    if (!partition) return;
    const std::lock_guard lock(mutex_);
    in_hand_.erase(*partition);
    changed_.notify_one();  // there may be more of it, and the caller may find work of another partition
}

PartitionQueues::PartitionQueue* PartitionQueues::find(const AssignmentId& assignment) {
    const auto queue = queues_.find(assignment.partition);
    return queue == queues_.end() || queue->second.epoch != assignment.epoch ? nullptr : &queue->second;
}

bool PartitionQueues::start(const AssignmentId& assignment, Claim claim) {
    const std::lock_guard lock(mutex_);
    PartitionQueue* queue = find(assignment);
    if (queue == nullptr) return false;
    queue->row_written = queue->log_verified = clock_.steady();
    queue->was_fenced = false;
    if (claim.position.value > 0) queue->last_read = Offset{claim.position.value - 1};
    queue->claim = std::move(claim);
    changed_.notify_all();
    return true;
}

void PartitionQueues::done(const AssignmentId& assignment, Claim claim) {
    const std::lock_guard lock(mutex_);
    if (PartitionQueue* queue = find(assignment)) {
        if (queue->claim && queue->claim->sequence != claim.sequence) queue->row_written = clock_.steady();
        queue->claim = std::move(claim);
    }
}

void PartitionQueues::requeue(const AssignmentId& assignment, std::vector<Record> records,
                              std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    PartitionQueue* queue = find(assignment);
    if (queue == nullptr) return;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        queue->bytes += record->bytes();
        queue->records.push_front(std::move(*record));
    }
    queue->not_before = clock_.steady() + pause;
}

void PartitionQueues::back_off(const AssignmentId& assignment, std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    PartitionQueue* queue = find(assignment);
    if (queue == nullptr) return;
    queue->not_before = clock_.steady() + pause;
}

void PartitionQueues::fence(const AssignmentId& assignment, std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    PartitionQueue* queue = find(assignment);
    if (queue == nullptr) return;
    reset(*queue);
    queue->was_fenced = true;
    queue->not_before = clock_.steady() + pause;
}

void PartitionQueues::reclaim(const AssignmentId& assignment) {
    const std::lock_guard lock(mutex_);
    if (PartitionQueue* queue = find(assignment)) reset(*queue);
}

/// Makes the queue what it was when the partition was assigned. The records in memory and the end that was
/// seen may lie beyond the position that the next claim finds; so nothing may be read before that claim.
void PartitionQueues::reset(PartitionQueue& queue) {
    const std::uint64_t epoch = queue.epoch;
    queue = PartitionQueue{};
    queue.epoch = epoch;
}

void PartitionQueues::with_committable_offsets(
    const std::function<void(const std::map<int, NextOffset>&)>& commit) {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.steady();
    const bool all = now - all_committed_ > commit_all_every;
    if (all) all_committed_ = now;
    std::map<int, NextOffset> stored;
    for (auto& [partition, queue] : queues_) {
        if (!queue.claim || (!all && queue.committed == queue.claim->position)) continue;
        stored[partition] = queue.claim->position;
        queue.committed = queue.claim->position;
    }
    if (!stored.empty()) commit(stored);
}

std::map<int, NextOffset> PartitionQueues::positions() const {
    const std::lock_guard lock(mutex_);
    std::map<int, NextOffset> stored;
    for (const auto& [partition, queue] : queues_)
        if (queue.claim) stored[partition] = queue.claim->position;
    return stored;
}

}  // namespace epilogue
