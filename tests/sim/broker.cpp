#include "tests/sim/broker.h"

#include <algorithm>

#include "tests/sim/consumer.h"

namespace epilogue::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void Broker::append(int partition, std::string key, std::string value, Micros age) {
    auto& records = logs_[static_cast<std::size_t>(partition)].records;
    schedule_.say("log {}@{}: {}", partition, records.size(), value);
    records.push_back({std::move(key), std::move(value), database_.now() - age});
    for (SimLog* member : members_) member->appended(partition);
}

void Broker::join(SimLog& member) {
    if (std::find(members_.begin(), members_.end(), &member) == members_.end()) members_.push_back(&member);
    member.kicked = false;
    rebalance_soon(seconds{2});
}

void Broker::drop(SimLog& member) {
    std::erase(members_, &member);
    for (Partition& log : logs_)
        if (log.owner == &member) log.owner = nullptr;
    rebalance_soon(seconds{1});
}

bool Broker::is_member(const SimLog& member) const {
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
    const std::uint64_t generation = generation_ + 1;
    schedule_.say("broker: rebalance {} of {} members", generation, members_.size());
    // Whoever cannot answer is left behind: it finds out when it goes on.
    for (const auto all = members_; SimLog * member : all) {
        if (member->process().stands_still() || member->is_cut_off()) {
            member->kicked = true;
            std::erase(members_, member);
        } else {
            member->revoked(false);
        }
    }
    generation_ = generation;
    for (Partition& log : logs_) log.owner = nullptr;
    if (members_.empty()) return;
    std::map<SimLog*, std::vector<int>> shares;
    const std::size_t first = schedule_.random.below(members_.size());
    for (std::size_t i = 0; i < logs_.size(); ++i) {
        SimLog* const owner = members_[(first + i) % members_.size()];
        logs_[i].owner = owner;
        shares[owner].push_back(static_cast<int>(i));
    }
    for (SimLog* owner : members_) {  // in the order of joining, not of addresses
        const auto share = shares.find(owner);
        if (share == shares.end()) continue;
        owner->process().after(schedule_.random.between(milliseconds{1}, seconds{1}),
                               [this, generation, owner, partitions = share->second] {
                                   if (generation == generation_ && is_member(*owner))
                                       owner->assigned(partitions);
                               });
    }
}

bool Broker::commit(const SimLog& member, std::uint64_t generation, int partition, NextOffset position) {
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
