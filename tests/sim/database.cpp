#include "tests/sim/database.h"

#include <algorithm>

#include "worker/core/server_log.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue::sim {

LockKey lock_key(char table, std::string_view row) {
    LockKey hash = 0xCBF29CE484222325ULL ^ static_cast<unsigned char>(table);
    for (const char byte : row) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
    return hash;
}

bool Changes::empty() const {
    return partitions.empty() && conversations.empty() && callbacks.empty() && endpoints.empty() &&
           catch_ups.empty() && gaps.empty() && summaries.empty() && put_summaries.empty() &&
           instructions.empty() && llm_spending.empty() && deliveries.empty() && inserted.empty() &&
           dead_letters.empty() && windows.empty() && credentials.empty();
}

OpenTransaction* Database::holder(LockKey key, const OpenTransaction* own, bool to_share) {
    constexpr std::chrono::seconds wait_timeout{120};
    for (const auto& open : open_) {
        if (open.get() == own || open->ended) continue;
        const auto holds = [key](const std::vector<LockKey>& locks) {
            return std::find(locks.begin(), locks.end(), key) != locks.end();
        };
        if (!holds(open->locks) && (to_share || !holds(open->shared))) continue;
        if (schedule_.now() - open->silent_since < wait_timeout) return open.get();
        open->ended = true;  // the server ends a session that says nothing for so long
    }
    return nullptr;
}

void Database::open(const std::shared_ptr<OpenTransaction>& transaction) {
    std::erase_if(open_, [](const auto& open) { return open->ended; });
    open_.push_back(transaction);
}

void Database::end_session(std::int64_t session) {
    for (const auto& open : open_)
        if (open->session == session) open->ended = true;
}

void Database::go_down() {
    down_ = true;
    for (const auto& open : open_) open->ended = true;
    open_.clear();
}

void Database::audit(const Changes& changes) {
    for (const auto& [partition, row] : changes.partitions) {
        const auto before = partitions.find(partition);
        if (before == partitions.end()) continue;
        oracle_.wrote(testing::PositionWrite{partition, before->second.next_offset.value,
                                             row.next_offset.value, before->second.generation.value,
                                             row.generation.value, before->second.owner, row.owner});
    }
    for (const auto& [id, row] : changes.deliveries) {
        const DeliveryRow& before = deliveries.at(ordinals.at(id));
        oracle_.wrote(testing::DeliveryWrite{id, before.generation.value, row.generation.value,
                                             name_of(before.progress.state), name_of(row.progress.state),
                                             before.owner, row.owner,
                                             before.lease_until && *before.lease_until > now(),
                                             before.progress.attempt, row.progress.attempt});
    }
    for (const auto& [turn, row] : changes.put_summaries)
        if (!summaries.at(turn).owed)
            oracle_.complain("the summary of " + turn.conversation_id + ", turn " + turn.turn_key +
                             ", was written after it was frozen");
    for (const auto& [id, row] : changes.callbacks) {
        const auto before = callbacks.find(id);
        if (before == callbacks.end()) continue;
        const bool sent = std::any_of(deliveries.begin(), deliveries.end(), [&](const auto& entry) {
            const auto changed = changes.deliveries.find(entry.second.id);
            const DeliveryRow& delivery =
                changed == changes.deliveries.end() ? entry.second : changed->second;
            return delivery.callback_id == id && delivery.turn_key == row.state.last_turn_key &&
                   delivery.progress.state == DeliveryState::sent;
        });
        oracle_.wrote(testing::StatusWrite{id.value, name_of(status_of(before->second.state.phase)),
                                           name_of(status_of(row.state.phase)), sent,
                                           row.state.phase == Phase::cancelled});
    }
}

void Database::put_delivery(std::int64_t ordinal, DeliveryRow row) {
    const bool is_open = !is_final(row.progress.state) && row.progress.state != DeliveryState::parked;
    const auto enter = [ordinal](std::set<std::int64_t>& set, bool wanted) {
        if (wanted)
            set.insert(ordinal);
        else
            set.erase(ordinal);
    };
    enter(timed, is_open && row.next_attempt_at);
    DeliveryRow& stored = deliveries[ordinal];
    if (!stored.rate_window.empty()) enter(lines[stored.rate_window], false);
    if (!row.rate_window.empty()) enter(lines[row.rate_window], is_open && !row.next_attempt_at);
    enter(open_of[row.callback_id], is_open);
    if (stored.dedup_due_at) due_for_dedup.erase({*stored.dedup_due_at, ordinal});
    if (row.progress.state == DeliveryState::sent && row.dedup_due_at)
        due_for_dedup.insert({*row.dedup_due_at, ordinal});
    stored = std::move(row);
}

bool Database::is_first(std::int64_t ordinal, const DeliveryRow& row) const {
    const auto& open = open_of.at(row.callback_id);
    return open.empty() || *open.begin() >= ordinal;
}

bool Database::waits_for_platform(const std::string& queue) const {
    return std::any_of(credentials.begin(), credentials.end(), [&](const auto& entry) {
        const auto& [name, row] = entry;
        if (queue == look_queue_of(name)) return row.look_ups.is_open();
        return row.posts.is_open() && (queue == name || queue.starts_with(name + "/"));
    });
}

void Database::note_first_told(const Changes& changes) {
    for (const auto& [id, row] : changes.catch_ups) {
        const auto before = conversations.find(id);
        const auto after = changes.conversations.find(id);
        if (row || before == conversations.end() || after == changes.conversations.end()) continue;
        if (is_unseen(before->second.conversation) && !is_unseen(after->second.conversation))
            caught_up.insert(id);
    }
}

void Database::apply(OpenTransaction& transaction) {
    Changes& changes = transaction.changes;
    audit(changes);
    note_first_told(changes);
    for (auto& [partition, row] : changes.partitions) partitions[partition] = std::move(row);
    for (auto& [id, row] : changes.conversations) conversations[id] = std::move(row);
    for (auto& [id, row] : changes.callbacks) {
        if (callbacks.find(id) == callbacks.end()) {
            if (foreign.erase(id) == 0) idempotency_keys[row.idempotency_key] = id;
            const Conversation& seen = conversations.at(row.conversation_id).conversation;
            registrations[id] = {seen.last ? seen.last->turn_key : TurnKey{},
                                 std::holds_alternative<Ended>(seen.turn_state), is_unseen(seen)};
        }
        callbacks[id] = std::move(row);
    }
    for (auto& [id, row] : changes.catch_ups) {
        if (row)
            catch_ups[id] = std::move(*row);
        else
            catch_ups.erase(id);
    }
    for (auto& [id, row] : changes.gaps) gaps[id] = std::move(row);
    for (auto& [id, row] : changes.endpoints) endpoints[id] = std::move(row);
    for (auto& row : changes.summaries) {
        const TurnId turn{row.conversation_id, row.turn_key};
        const bool is_owed = row.owed;
        if (summaries.try_emplace(turn, std::move(row)).second && is_owed) owed_summaries.insert(turn);
    }
    for (auto& [turn, row] : changes.put_summaries) {
        if (!row.owed) owed_summaries.erase(turn);
        summaries[turn] = std::move(row);
    }
    instructions.merge(changes.instructions);
    for (const auto& [key, spending] : changes.llm_spending) llm_spending[key] = spending;
    for (auto& [id, row] : changes.deliveries) put_delivery(ordinals.at(id), std::move(row));
    for (auto& [ordinal, row] : changes.inserted) {
        ordinals[row.id] = ordinal;
        delivery_turns.insert({row.callback_id, row.turn_key});
        put_delivery(ordinal, std::move(row));
    }
    for (const auto& row : changes.dead_letters) dead_letters.insert({row.partition, row.offset.value});
    for (auto& [name, row] : changes.windows) windows[name] = std::move(row);
    for (auto& [name, row] : changes.credentials) credentials[name] = std::move(row);
    transaction.ended = true;
    changes.clear();
}

}  // namespace epilogue::sim
