// The deliveries, as a transaction sees them.
#include <algorithm>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {

const DeliveryRow* SimDeliveryRows::delivery(const DeliveryId& id) const {
    const auto changed = transaction_.changes().deliveries.find(id);
    if (changed != transaction_.changes().deliveries.end()) return &changed->second;
    const auto found = transaction_.database().ordinals.find(id);
    return found == transaction_.database().ordinals.end()
               ? nullptr
               : &transaction_.database().deliveries.at(found->second);
}

Result<std::vector<DeliveryId>> SimDeliveryRows::insert(const std::vector<DeliveryRow>& rows) {
    TRY_VOID(transaction_.statement());
    std::vector<DeliveryId> inserted;
    for (const DeliveryRow& row : rows) {
        TRY_VOID(transaction_.lock('d', row.id));
        if (transaction_.database().ordinals.count(row.id) > 0 ||
            transaction_.database().delivery_turns.count({row.callback_id, row.turn_key}) > 0)
            continue;
        DeliveryRow stored = row;
        stored.created_at = transaction_.database().now();
        if (!stored.next_attempt_at) stored.next_attempt_at = stored.created_at;
        transaction_.changes().inserted.emplace_back(transaction_.database().next_ordinal++,
                                                     std::move(stored));
        inserted.push_back(row.id);
    }
    return inserted;
}

Result<std::optional<DeliveryRow>> SimDeliveryRows::lock(const DeliveryId& id) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('d', id));
    const DeliveryRow* row = delivery(id);
    if (row == nullptr) return std::optional<DeliveryRow>();
    std::optional<DeliveryRow> read(*row);
    read->progress.wait.reset();  // no column holds it
    read->body_is_stored = !read->body.empty();
    return read;
}

Result<void> SimDeliveryRows::update(const DeliveryRow& row) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('d', row.id));
    DeliveryRow changed = row;
    if (row.body_is_stored || row.body.empty()) changed.body = delivery(row.id)->body;
    transaction_.changes().deliveries[row.id] = std::move(changed);
    return {};
}

Result<std::vector<DeliveryRow>> SimDeliveryRows::lock_of(const TurnId& turn) {
    TRY_VOID(transaction_.statement());
    std::vector<DeliveryId> ids;
    for (const auto& [ordinal, row] : transaction_.database().deliveries)
        if (row.conversation_id == turn.conversation_id && row.turn_key == turn.turn_key)
            ids.push_back(row.id);
    std::vector<DeliveryRow> rows;
    for (const DeliveryId& id : ids) {
        TRY(const auto row, lock(id));
        rows.push_back(*row);
    }
    return rows;
}

Result<bool> SimDeliveryRows::has_older_open(const DeliveryRow& row) {
    TRY_VOID(transaction_.statement());
    return !transaction_.database().is_first(transaction_.database().ordinals.at(row.id), row);
}

Result<std::vector<SiblingDelivery>> SimDeliveryRows::siblings(const DeliveryRow& row) {
    TRY_VOID(transaction_.statement());
    const Database& database = transaction_.database();
    const std::int64_t own = database.ordinals.at(row.id);
    std::vector<SiblingDelivery> siblings;
    for (const auto& [ordinal, other] : database.deliveries) {
        if (other.callback_id != row.callback_id || ordinal == own) continue;
        const bool is_sent = other.progress.state == DeliveryState::sent;
        if (ordinal > own || (!is_sent && !is_free(other, database.now())))
            siblings.push_back({other.id, ordinal > own, is_sent ? std::nullopt : other.lease_until});
    }
    return siblings;
}

Result<bool> SimDeliveryRows::exists_to(const TurnId& turn, const std::string& sink,
                                        const std::string& target) {
    TRY_VOID(transaction_.statement());
    return std::any_of(transaction_.database().deliveries.begin(), transaction_.database().deliveries.end(),
                       [&](const auto& entry) {
                           const DeliveryRow& row = entry.second;
                           return row.conversation_id == turn.conversation_id &&
                                  row.turn_key == turn.turn_key && row.sink == sink && row.target == target;
                       });
}

Result<std::vector<DueDelivery>> SimDeliveryRows::due(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const Instant now = transaction_.database().now();
    std::vector<DueDelivery> due;
    for (const std::int64_t ordinal : transaction_.database().timed) {
        const DeliveryRow& row = transaction_.database().deliveries.at(ordinal);
        const bool is_due = row.next_attempt_at && *row.next_attempt_at <= now && is_free(row, now);
        if (is_due && transaction_.database().is_first(ordinal, row)) due.push_back({row.id, row.sink});
        if (due.size() == limit) break;
    }
    return due;
}

Result<std::vector<DueDelivery>> SimDeliveryRows::due_dedups(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const Instant now = transaction_.database().now();
    std::vector<DueDelivery> due;
    for (const auto& [due_at, ordinal] : transaction_.database().due_for_dedup) {
        if (due_at > now || due.size() == limit) break;
        const DeliveryRow& row = transaction_.database().deliveries.at(ordinal);
        if (is_free(row, now)) due.push_back({row.id, row.sink});
    }
    return due;
}

}  // namespace epilogue::sim
