#include "worker/consume/partition_queues.h"

#include <algorithm>

namespace epilogue {
namespace {

constexpr std::chrono::milliseconds timer_check_every{100};
constexpr std::chrono::milliseconds growth_check{1};
// A lane is fetched again while this much work is left in it, however small its batches are: the poll thread
// looks for room only between two polls.
constexpr std::size_t least_left_records = 500;
constexpr std::chrono::seconds heartbeat_every{20};  // well under the minute that counts as an outage
constexpr std::chrono::seconds look_every{15};       // a log that was replaced is to be seen within a minute

}  // namespace

void Lanes::open(const std::vector<int>& partitions) {
    const std::lock_guard lock(mutex_);
    for (const int partition : partitions) {
        Lane lane;
        lane.epoch = next_epoch_++;
        lanes_.insert_or_assign(partition, std::move(lane));
    }
    changed_.notify_all();
}

std::map<int, NextOffset> Lanes::close(const std::vector<int>& partitions) {
    const std::lock_guard lock(mutex_);
    std::map<int, NextOffset> stored;
    for (const int partition : partitions) {
        const auto lane = lanes_.find(partition);
        if (lane == lanes_.end()) continue;
        if (lane->second.claim) stored[partition] = lane->second.claim->position;
        lanes_.erase(lane);
    }
    return stored;
}

Lanes::Room Lanes::push(Record record) {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(record.partition);
    if (found == lanes_.end()) return Room::enough;
    Lane& lane = found->second;
    if (!lane.reads() || (lane.last_read && record.offset <= *lane.last_read)) return Room::enough;
    lane.last_read = record.offset;
    lane.bytes += record.bytes();
    lane.queue.push_back(std::move(record));
    if (lane.queue.size() == 1) changed_.notify_all();  // how it grows from then on the loop looks for itself
    const bool full = lane.queue.size() >= 2 * refill_below() || lane.bytes >= 2 * limits_.batch_bytes;
    if (!full || lane.paused) return Room::enough;
    lane.paused = true;
    return Room::full;
}

void Lanes::saw_end(const EndOfPartition& end) {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(end.partition);
    if (found == lanes_.end() || !found->second.reads()) return;
    found->second.end_seen = end.position;
    changed_.notify_all();
}

/// Records left in a full lane when it is fetched again.
std::size_t Lanes::refill_below() const {
    return std::max(limits_.batch_records, least_left_records);
}

std::vector<int> Lanes::take_refilled() {
    const std::lock_guard lock(mutex_);
    std::vector<int> refilled;
    for (auto& [partition, lane] : lanes_) {
        if (!lane.paused || lane.queue.size() >= refill_below() || lane.bytes >= limits_.batch_bytes)
            continue;
        lane.paused = false;
        refilled.push_back(partition);
    }
    return refilled;
}

LaneWork Lanes::next(std::chrono::milliseconds wait, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto until = clock_.steady() + wait;
    while (!stop.stop_requested()) {
        const auto now = clock_.steady();
        if (auto work = work_locked(now)) {
            auto* ready = std::get_if<RecordsReady>(&*work);
            if (ready == nullptr) return std::move(*work);
            // While records keep coming, a fuller batch costs the same commit.
            const auto flush = std::min(now + limits_.batch_wait, until);
            Lane* lane = find(ready->lane);
            while (lane != nullptr && lane->queue.size() < limits_.batch_records &&
                   lane->bytes < limits_.batch_bytes) {
                const std::size_t before = lane->queue.size();
                if (clock_.steady() >= flush) break;
                changed_.wait_for(lock, growth_check, [] { return false; });
                lane = find(ready->lane);
                if (lane == nullptr || lane->queue.size() == before) break;
            }
            if (lane == nullptr) continue;
            lane->state = State::working;
            last_served_ = ready->lane.partition;
            ready->records = take_batch(*lane);
            return std::move(*work);
        }
        if (now >= until) break;
        changed_.wait_until(lock, std::min(until, now + timer_check_every));
    }
    return std::monostate{};
}

/// The lane after the last served one that has something to do.
std::optional<LaneWork> Lanes::work_locked(SteadyTime now) {
    std::vector<std::pair<const int, Lane>*> order;
    for (auto& lane : lanes_) order.push_back(&lane);
    const auto after =
        std::find_if(order.begin(), order.end(), [this](const auto* l) { return l->first > last_served_; });
    std::rotate(order.begin(), after, order.end());
    for (auto* entry : order) {
        auto& [partition, lane] = *entry;
        if (now < lane.not_before) continue;
        const LaneId id{partition, lane.epoch};
        if (lane.state == State::unclaimed) {
            lane.state = State::claiming;
            return ClaimWanted{id, lane.was_fenced};
        }
        if (lane.state != State::reading) continue;
        if (now - lane.looked >= look_every) {
            lane.state = State::working;
            lane.looked = now;
            return LookDue{id, *lane.claim};
        }
        const bool heartbeat =
            lane.queue.empty() && now - lane.touched >= heartbeat_every && now >= lane.timer_not_before;
        if (heartbeat || timer_is_near(lane, now)) {
            lane.state = State::working;
            lane.timer_not_before = now + timer_check_every;
            return TimerNear{id, *lane.claim, lane.queue.empty(), heartbeat, lane.end_seen};
        }
        if (!lane.queue.empty()) return RecordsReady{id, *lane.claim, {}};
    }
    return std::nullopt;
}

/// Due by the partition's own clock; or, with nothing queued, by this machine's clock, which only decides
/// whether it is worth asking the broker and the database.
bool Lanes::timer_is_near(const Lane& lane, SteadyTime now) const {
    const Claim& claim = *lane.claim;
    if (!claim.next_due || now < lane.timer_not_before) return false;
    if (claim.clock && *claim.next_due <= *claim.clock) return true;
    return lane.queue.empty() && *claim.next_due <= clock_.wall();
}

std::vector<Record> Lanes::take_batch(Lane& lane) const {
    std::vector<Record> batch;
    std::size_t bytes = 0;
    while (!lane.queue.empty() && batch.size() < limits_.batch_records) {
        const std::size_t next = lane.queue.front().bytes();
        if (!batch.empty() && bytes + next > limits_.batch_bytes) break;
        bytes += next;
        lane.bytes -= next;
        batch.push_back(std::move(lane.queue.front()));
        lane.queue.pop_front();
    }
    return batch;
}

Lanes::Lane* Lanes::find(const LaneId& id) {
    const auto lane = lanes_.find(id.partition);
    return lane == lanes_.end() || lane->second.epoch != id.epoch ? nullptr : &lane->second;
}

bool Lanes::start(const LaneId& id, Claim claim) {
    const std::lock_guard lock(mutex_);
    Lane* lane = find(id);
    if (lane == nullptr) return false;
    lane->state = State::reading;
    lane->touched = lane->looked = clock_.steady();
    lane->was_fenced = false;
    if (claim.position.value > 0) lane->last_read = Offset{claim.position.value - 1};
    lane->claim = std::move(claim);
    changed_.notify_all();
    return true;
}

void Lanes::done(const LaneId& id, Claim claim) {
    const std::lock_guard lock(mutex_);
    if (Lane* lane = find(id)) {
        lane->state = State::reading;
        if (lane->claim && lane->claim->sequence != claim.sequence) lane->touched = clock_.steady();
        lane->claim = std::move(claim);
    }
}

void Lanes::put_back(const LaneId& id, std::vector<Record> records, std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    Lane* lane = find(id);
    if (lane == nullptr) return;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        lane->bytes += record->bytes();
        lane->queue.push_front(std::move(*record));
    }
    lane->state = State::reading;
    lane->not_before = clock_.steady() + pause;
}

void Lanes::rest(const LaneId& id, std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    Lane* lane = find(id);
    if (lane == nullptr) return;
    lane->state = lane->claim ? State::reading : State::unclaimed;
    lane->not_before = clock_.steady() + pause;
}

void Lanes::fence(const LaneId& id, std::chrono::milliseconds pause) {
    const std::lock_guard lock(mutex_);
    Lane* lane = find(id);
    if (lane == nullptr) return;
    drop_claim(*lane);
    lane->was_fenced = true;
    lane->not_before = clock_.steady() + pause;
}

void Lanes::claim_again(const LaneId& id) {
    const std::lock_guard lock(mutex_);
    if (Lane* lane = find(id)) drop_claim(*lane);
}

/// As it was when it was opened: what was read, and where the end was seen, lies beyond the position that the
/// next claim finds; and nobody is to fetch on before that says from where.
void Lanes::drop_claim(Lane& lane) {
    const std::uint64_t epoch = lane.epoch;
    lane = Lane{};
    lane.epoch = epoch;
}

void Lanes::commit_with(bool all, const std::function<void(const std::map<int, NextOffset>&)>& commit) {
    const std::lock_guard lock(mutex_);
    std::map<int, NextOffset> stored;
    for (auto& [partition, lane] : lanes_) {
        if (!lane.claim || (!all && lane.committed == lane.claim->position)) continue;
        stored[partition] = lane.claim->position;
        lane.committed = lane.claim->position;
    }
    if (!stored.empty()) commit(stored);
}

std::map<int, NextOffset> Lanes::positions() const {
    const std::lock_guard lock(mutex_);
    std::map<int, NextOffset> stored;
    for (const auto& [partition, lane] : lanes_)
        if (lane.claim) stored[partition] = lane.claim->position;
    return stored;
}

}  // namespace epilogue
