#include "tests/agent/relay_rig.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;

MemoryTopic::Kept kept(const relay::TopicRecord& record) {
    MemoryTopic::Kept kept;
    kept.conversation_id = record.conversation_id.text();
    kept.value = record.value;
    kept.id = nlohmann::json::parse(record.value).value("id", "");
    for (const auto& [name, value] : record.headers) {
        if (name == "seq") kept.seq = std::stoll(value);
        if (name == "run_over") kept.run_over = value == "1";
    }
    return kept;
}

}  // namespace

MemoryTopic::MemoryTopic() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

MemoryTopic::~MemoryTopic() = default;

bool MemoryTopic::produce(relay::TopicRecord record, Settled settled) {
    const std::lock_guard lock(mutex_);
    if (sent_.size() >= room_) return false;
    sent_.push_back({std::move(record), std::move(settled)});
    changed_.notify_all();
    return true;
}

void MemoryTopic::when_room(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(std::move(listener));
    changed_.notify_all();
}

void MemoryTopic::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] {
        return (!away_ && !sent_.empty()) || (!listeners_.empty() && sent_.size() < room_);
    })) {
        std::optional<Sent> next;
        bool given_up = false;
        if (!away_ && !sent_.empty()) {
            next = std::move(sent_.front());
            sent_.pop_front();
            given_up = give_up_ > 0;
            if (given_up)
                --give_up_;
            else
                kept_.push_back(kept(next->record));
        }
        std::vector<std::function<void()>> told;
        if (sent_.size() < room_) told = std::exchange(listeners_, {});
        lock.unlock();
        if (next) next->settled(given_up ? Result<void>(retryable("given up")) : Result<void>());
        for (const auto& listener : told) listener();
        lock.lock();
    }
}

void MemoryTopic::go_away(std::size_t room) {
    const std::lock_guard lock(mutex_);
    away_ = true;
    room_ = room;
}

void MemoryTopic::come_back() {
    const std::lock_guard lock(mutex_);
    away_ = false;
    room_ = 10'000;
    changed_.notify_all();
}

void MemoryTopic::give_up(int count) {
    const std::lock_guard lock(mutex_);
    give_up_ = count;
}

std::vector<MemoryTopic::Kept> MemoryTopic::records(const std::string& conversation_id) const {
    const std::lock_guard lock(mutex_);
    std::vector<Kept> found;
    for (const Kept& each : kept_)
        if (each.conversation_id == conversation_id) found.push_back(each);
    return found;
}

std::vector<std::string> MemoryTopic::first_ids(const std::string& conversation_id) const {
    std::set<std::string> seen;
    std::vector<std::string> ids;
    for (const Kept& each : records(conversation_id))
        if (!each.run_over && seen.insert(each.id).second) ids.push_back(each.id);
    return ids;
}

std::size_t MemoryTopic::size() const {
    const std::lock_guard lock(mutex_);
    return kept_.size();
}

std::size_t MemoryTopic::waiting() const {
    const std::lock_guard lock(mutex_);
    return sent_.size();
}

Result<std::vector<relay::Claim>> MemoryPositions::claim(const std::string& owner, std::size_t limit,
                                                         std::chrono::seconds lease) {
    const std::lock_guard lock(mutex_);
    std::vector<relay::Claim> claims;
    for (auto& [id, row] : rows_) {
        if (claims.size() == limit) break;
        if (row.lease_until > Clock::now()) continue;
        row.owner = owner;
        row.lease_until = Clock::now() + lease;
        ++row.claim.generation;
        claims.push_back(row.claim);
    }
    return claims;
}

Result<std::vector<relay::HeldClaim>> MemoryPositions::renew(const std::string& owner,
                                                             const std::vector<ConversationId>& followed,
                                                             std::chrono::seconds lease) {
    const std::lock_guard lock(mutex_);
    std::vector<relay::HeldClaim> held;
    for (const ConversationId& id : followed) {
        const auto found = rows_.find(id);
        if (found == rows_.end() || found->second.owner != owner || found->second.lease_until <= Clock::now())
            continue;
        found->second.lease_until = Clock::now() + lease;
        held.push_back({id, found->second.claim.generation, found->second.claim.server});
    }
    return held;
}

MemoryPositions::Row* MemoryPositions::ours(const std::string& owner, const relay::PositionUpdate& update) {
    const auto found = rows_.find(update.conversation_id);
    if (found == rows_.end() || found->second.owner != owner ||
        found->second.claim.generation != update.generation || found->second.lease_until <= Clock::now())
        return nullptr;
    return &found->second;
}

Result<std::vector<ConversationId>> MemoryPositions::advance(
    const std::string& owner, const std::vector<relay::PositionUpdate>& updates) {
    const std::lock_guard lock(mutex_);
    std::vector<ConversationId> fenced;
    for (const auto& update : updates) {
        if (Row* const row = ours(owner, update)) {
            row->claim.position = update.position;
            row->trouble = update.trouble;
        } else {
            fenced.push_back(update.conversation_id);
        }
    }
    return fenced;
}

Result<void> MemoryPositions::end_leases(const std::string& owner) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, row] : rows_)
        if (row.owner == owner) row.lease_until = Clock::now();
    return {};
}

void MemoryPositions::fenced(const ConversationId& conversation) {
    const std::lock_guard lock(mutex_);
    told_.push_back("fenced " + conversation.text());
}

void MemoryPositions::take_away(const std::string& conversation_id) {
    const std::lock_guard lock(mutex_);
    rows_.at(conversation_id).owner = "another";
    rows_.at(conversation_id).lease_until = Clock::time_point::max();
}

void MemoryPositions::move(const std::string& conversation_id, const std::string& server) {
    const std::lock_guard lock(mutex_);
    rows_.at(conversation_id).claim.server = server;
}

std::int64_t MemoryPositions::generation(const std::string& conversation_id) const {
    const std::lock_guard lock(mutex_);
    return rows_.at(conversation_id).claim.generation;
}

std::vector<std::string> MemoryPositions::told() const {
    const std::lock_guard lock(mutex_);
    return told_;
}

Result<bool> MemoryPositions::release(const std::string& owner, const relay::PositionUpdate& last,
                                      std::chrono::seconds pause) {
    const std::lock_guard lock(mutex_);
    if (last.moved) told_.push_back("moved " + last.conversation_id.text());
    Row* const row = ours(owner, last);
    if (row == nullptr) return false;
    row->claim.position = last.position;
    row->trouble = last.trouble;
    row->owner.clear();
    row->lease_until = Clock::now() + pause;
    return true;
}

void MemoryPositions::want(const std::string& conversation_id, const std::string& server,
                           const std::string& key) {
    const std::lock_guard lock(mutex_);
    Row& row = rows_[conversation_id];
    row.claim.conversation_id = ConversationId(conversation_id);
    row.claim.server = server;
    // Another key ends the pause of one that was refused.
    if (row.owner.empty() && row.claim.session_key.reveal() != key) row.lease_until = {};
    row.claim.session_key = Secret(key);
}

void MemoryPositions::unwant(const std::string& conversation_id) {
    const std::lock_guard lock(mutex_);
    rows_.erase(conversation_id);
}

void MemoryPositions::end_leases() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, row] : rows_) row.lease_until = {};
}

relay::LogPosition MemoryPositions::position(const std::string& conversation_id) const {
    const std::lock_guard lock(mutex_);
    return rows_.at(conversation_id).claim.position;
}

std::string MemoryPositions::trouble(const std::string& conversation_id) const {
    const std::lock_guard lock(mutex_);
    return rows_.at(conversation_id).trouble;
}

std::optional<relay::TopicRecord> plain_record(const relay::FollowedEvent& event) {
    relay::TopicRecord record{event.conversation_id, std::string(event.json), {{"source", "follower"}}};
    if (event.seq) record.headers.emplace_back("seq", std::to_string(*event.seq));
    if (event.run_over) record.headers.emplace_back("run_over", "1");
    return record;
}

relay::FollowRules quick_rules() {
    relay::FollowRules rules;
    rules.discover_every = 50ms;
    rules.save_every = 50ms;
    rules.renew_every = 500ms;
    rules.plan.look_after = 2s;
    rules.plan.gap_patience = 200ms;
    rules.plan.retry_after = 200ms;
    rules.socket.backoff_base = 50ms;
    rules.socket.backoff_cap = 500ms;
    return rules;
}

}  // namespace epilogue::testing
