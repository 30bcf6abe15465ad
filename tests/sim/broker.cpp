#include "tests/sim/broker.h"

#include <algorithm>

#include "tests/sim/consumer.h"

namespace epilogue::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void Broker::append(int partition, std::string key, std::string value, Micros age, const RecordMarks& marks) {
    auto& records = logs_[static_cast<std::size_t>(partition)].records;
    schedule_.say("log {}@{}: {}", partition, records.size(), value);
    records.push_back({std::move(key), std::move(value), database_.now() - age, marks});
    for (SimConsumer* member : members_) member->appended(partition);
}

void Broker::lose(int partition) {
    Partition& log = logs_[static_cast<std::size_t>(partition)];
    log.low = static_cast<std::int64_t>(log.records.size());
    schedule_.say("log {}: everything up to {} is gone", partition, log.low);
}

void Broker::join(SimConsumer& member) {
    if (std::find(members_.begin(), members_.end(), &member) == members_.end()) members_.push_back(&member);
    rebalance_soon(seconds{2});
}

void Broker::drop(SimConsumer& member) {
    forget(member);
    if (std::erase(giving_up_, &member) > 0 && giving_up_.empty()) begin_generation();
    rebalance_soon(seconds{1});
}

void Broker::forget(SimConsumer& member) {
    std::erase(members_, &member);
    for (Partition& log : logs_)
        if (log.owner == &member) log.owner = nullptr;
}

void Broker::rejoined(SimConsumer& member) {
    if (std::erase(giving_up_, &member) > 0 && giving_up_.empty()) begin_generation();
}

bool Broker::is_member(const SimConsumer& member) const {
    return std::find(members_.begin(), members_.end(), &member) != members_.end();
}

void Broker::rebalance_soon(Micros at_most) {
    if (std::exchange(rebalance_planned_, true)) return;
    schedule_.after(schedule_.random.between(milliseconds{10}, at_most), [this] {
        rebalance_planned_ = false;
        rebalance();
    });
}

void Broker::rebalance() {
    if (!giving_up_.empty()) return;  // one is under way; members that joined meanwhile are part of it
    schedule_.say("broker: rebalance {} of {} members", generation_ + 1, members_.size());
    // Members that cannot answer are left behind: they find out when they go on.
    for (const auto all = members_; SimConsumer * member : all) {
        if (!member->process().stands_still() && !member->is_cut_off()) continue;
        member->expel();
        forget(*member);
    }
    giving_up_ = members_;
    if (giving_up_.empty()) begin_generation();
    for (const auto all = giving_up_; SimConsumer * member : all) member->rebalance();
}

void Broker::begin_generation() {
    const std::uint64_t generation = ++generation_;
    for (Partition& log : logs_) log.owner = nullptr;
    if (members_.empty()) return;
    std::map<SimConsumer*, std::vector<int>> shares;
    const std::size_t first = schedule_.random.below(members_.size());
    for (std::size_t i = 0; i < logs_.size(); ++i) {
        SimConsumer* const owner = members_[(first + i) % members_.size()];
        logs_[i].owner = owner;
        shares[owner].push_back(static_cast<int>(i));
    }
    for (SimConsumer* owner : members_) {  // in the order of joining, not of addresses
        const auto share = shares.find(owner);
        if (share == shares.end()) continue;
        owner->process().after(schedule_.random.between(milliseconds{1}, seconds{1}),
                               [this, generation, owner, partitions = share->second] {
                                   const bool is_over = generation != generation_ || !giving_up_.empty();
                                   if (!is_over && is_member(*owner)) owner->assign(generation, partitions);
                               });
    }
}

bool Broker::commit(const SimConsumer& member, std::uint64_t generation, int partition, NextOffset position) {
    Partition& log = logs_[static_cast<std::size_t>(partition)];
    if (log.owner != &member || generation != generation_) return false;
    log.committed = position;
    const auto stored = database_.partitions.find(partition);
    oracle_.offset_committed(partition, position.value,
                             stored == database_.partitions.end() ? 0 : stored->second.next_offset.value);
    return true;
}

std::optional<NextOffset> Broker::committed(int partition) const {
    return logs_[static_cast<std::size_t>(partition)].committed;
}

}  // namespace epilogue::sim
