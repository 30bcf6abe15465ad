// Partitions and conversations, as a transaction sees them.
#include <algorithm>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {

Result<std::optional<PartitionRow>> SimPartitionRows::lock(const PartitionKey& key) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('p', std::to_string(key.partition)));
    for (const auto& [partition, row] : transaction_.changes().partitions)
        if (partition == key.partition) return std::optional(row);
    return read(key);
}

Result<std::optional<PartitionRow>> SimPartitionRows::read(const PartitionKey& key) {
    TRY_VOID(transaction_.statement());
    const auto found = transaction_.database().partitions.find(key.partition);
    return found == transaction_.database().partitions.end() ? std::optional<PartitionRow>()
                                                             : std::optional(found->second);
}

Result<void> SimPartitionRows::update(const PartitionKey& key, const PartitionRow& row) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('p', std::to_string(key.partition)));
    transaction_.changes().partitions.assign(1, {key.partition, row});
    return {};
}

Result<std::optional<int>> SimPartitionRows::first_count(const std::string&) {
    TRY_VOID(transaction_.statement());
    std::optional<int> first;
    for (const auto& [partition, row] : transaction_.database().partitions)
        if (row.first_partitions)
            first = std::min(first.value_or(*row.first_partitions), *row.first_partitions);
    return first;
}

Result<int> SimPartitionRows::known_count(const std::string&) {
    TRY_VOID(transaction_.statement());
    int known = 0;
    for (const auto& [partition, row] : transaction_.database().partitions)
        known = std::max({known, partition + 1, row.first_partitions.value_or(0)});
    return known;
}

const StoredRow* SimConversationRows::conversation(const ConversationId& id) const {
    const auto changed = transaction_.changes().conversations.find(id);
    if (changed != transaction_.changes().conversations.end()) return &changed->second;
    const auto found = transaction_.database().conversations.find(id);
    return found == transaction_.database().conversations.end() ? nullptr : &found->second;
}

void SimConversationRows::each_conversation(
    const std::function<void(const ConversationId&, const StoredRow&)>& look) const {
    const auto& changed = transaction_.changes().conversations;
    for (const auto& [id, row] : transaction_.database().conversations)
        if (changed.find(id) == changed.end()) look(id, row);
    for (const auto& [id, row] : changed) look(id, row);
}

Result<std::vector<StoredConversation>> SimConversationRows::lock(const std::vector<ConversationId>& ids,
                                                                  int partition) {
    TRY_VOID(transaction_.statement());
    std::vector<StoredConversation> rows;
    for (const ConversationId& id : ids) {
        if (id.text().starts_with("refused")) {
            constexpr int wrong_value = 1366;
            transaction_.process().schedule().faults.count(Fault::refused_by_database);
            return poisonous("incorrect string value", wrong_value);
        }
        TRY_VOID(transaction_.lock('c', id));
        const StoredRow* row = conversation(id);
        if (row == nullptr || row->partition != partition) {
            StoredRow fresh = row == nullptr ? StoredRow{} : *row;
            fresh.partition = partition;
            row = &(transaction_.changes().conversations[id] = std::move(fresh));
        }
        rows.push_back({id, row->conversation, row->suspended, row->resumed_at});
    }
    return rows;
}

Result<Conversation> SimConversationRows::lock_one(const ConversationId& id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('c', id));
    const StoredRow* row = conversation(id);
    if (row == nullptr) row = &transaction_.changes().conversations[id];
    return row->conversation;
}

Result<void> SimConversationRows::note_guess(const ConversationId& id) {
    TRY_VOID(transaction_.statement());
    StoredRow guessed = *conversation(id);
    guessed.guessed = true;
    transaction_.changes().conversations[id] = std::move(guessed);
    return {};
}

Result<void> SimConversationRows::update(const std::vector<StoredConversation>& rows) {
    TRY_VOID(transaction_.statement());
    for (const StoredConversation& row : rows) {
        const StoredRow* before = conversation(row.id);
        const int partition = before == nullptr ? 0 : before->partition;
        const bool guessed = before != nullptr && before->guessed;
        transaction_.changes().conversations[row.id] = {row.conversation, partition, guessed, row.suspended,
                                                        row.resumed_at};
    }
    return {};
}

std::vector<ConversationId> SimConversationRows::by_due_time(
    const std::function<std::optional<Instant>(const StoredRow&)>& wanted, std::size_t limit) const {
    std::vector<std::pair<Instant, ConversationId>> due;
    each_conversation([&](const ConversationId& id, const StoredRow& row) {
        if (const auto at = wanted(row)) due.emplace_back(*at, id);
    });
    std::sort(due.begin(), due.end());
    if (due.size() > limit) due.resize(limit);
    std::vector<ConversationId> ids;
    for (auto& [at, id] : due) ids.push_back(std::move(id));
    return ids;
}

Result<std::vector<ConversationId>> SimConversationRows::due(int partition, Instant clock,
                                                             std::size_t limit) {
    TRY_VOID(transaction_.statement());
    return by_due_time(
        [&](const StoredRow& row) {
            const auto at =
                row.partition == partition && !row.suspended ? due_at(row.conversation) : std::nullopt;
            return at && *at <= clock ? at : std::nullopt;
        },
        limit);
}

Result<std::vector<ConversationId>> SimConversationRows::suspended(int partition, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    return by_due_time(
        [&](const StoredRow& row) {
            return row.partition == partition && row.suspended ? due_at(row.conversation) : std::nullopt;
        },
        limit);
}

Result<InactivityCensus> SimConversationRows::inactivity_census(Instant from, Instant to,
                                                                Instant resumed_since) {
    TRY_VOID(transaction_.statement());
    InactivityCensus census;
    each_conversation([&](const ConversationId&, const StoredRow& row) {
        if (row.resumed_at && *row.resumed_at >= resumed_since) ++census.near;
        const auto* open = std::get_if<Open>(&row.conversation.turn_state);
        if (open == nullptr || !open->due) return;
        ++census.open;
        if (row.suspended || (*open->due >= from && *open->due <= to)) ++census.near;
    });
    return census;
}

Result<std::optional<Instant>> SimConversationRows::next_due(int partition) {
    TRY_VOID(transaction_.statement());
    std::optional<Instant> earliest;
    each_conversation([&](const ConversationId&, const StoredRow& row) {
        const auto at =
            row.partition == partition && !row.suspended ? due_at(row.conversation) : std::nullopt;
        if (at && (!earliest || *at < *earliest)) earliest = at;
    });
    return earliest;
}

Result<std::optional<int>> SimConversationRows::partition_of(const ConversationId& conversation_id) {
    TRY_VOID(transaction_.statement());
    const StoredRow* row = conversation(conversation_id);
    return row == nullptr || row->partition < 0 ? std::optional<int>() : std::optional(row->partition);
}

}  // namespace epilogue::sim
