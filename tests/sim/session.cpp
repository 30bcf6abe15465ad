#include "tests/sim/session.h"

#include <algorithm>

namespace epilogue::sim {
namespace {

bool is_free(const DeliveryRow& row, Instant now) {
    return !row.lease_until || *row.lease_until <= now;
}

}  // namespace

void SimTransaction::begin() {
    open_ = std::make_shared<OpenTransaction>();
    open_->session = session_;
    open_->silent_since = process_.schedule().now();
    database_.open(open_);
}

void SimTransaction::drop() {
    if (open_) open_->ended = true;
    open_.reset();
}

Result<void> SimTransaction::statement() {
    constexpr int lost_connection = 2013;
    ++database_.statements;
    process_.interleave();
    if (is_open() && process_.schedule().faults.strikes(Fault::statement_lost)) drop();
    if (!is_open()) {
        lost_ = true;
        return retryable("lost connection", lost_connection);
    }
    open_->silent_since = process_.schedule().now();
    return {};
}

Result<void> SimTransaction::lock(char table, std::string_view row, bool to_share) {
    constexpr std::chrono::milliseconds patience{5000};
    constexpr std::chrono::milliseconds look_again{500};
    constexpr int lock_wait_timeout = 1205;
    const LockKey key = lock_key(table, row);
    for (Micros waited{0}; database_.holder(key, open_.get(), to_share) != nullptr; waited += look_again) {
        if (waited >= patience) return retryable("lock wait", lock_wait_timeout);
        process_.wait(look_again);
        TRY_VOID(statement());
    }
    (to_share ? open_->shared : open_->locks).push_back(key);
    return {};
}

bool SimTransaction::is_locked(char table, std::string_view row) const {
    return database_.holder(lock_key(table, row), open_.get()) != nullptr;
}

// --- partitions -------------------------------------------------------------------------------------------

Result<std::optional<PartitionRow>> SimTransaction::lock_partition(const PartitionKey& key) {
    TRY_VOID(statement());
    TRY_VOID(lock('p', std::to_string(key.partition)));
    for (const auto& [partition, row] : open_->changes.partitions)
        if (partition == key.partition) return std::optional(row);
    return peek_partition(key);
}

Result<std::optional<PartitionRow>> SimTransaction::peek_partition(const PartitionKey& key) {
    TRY_VOID(statement());
    const auto found = database_.partitions.find(key.partition);
    return found == database_.partitions.end() ? std::optional<PartitionRow>() : std::optional(found->second);
}

Result<void> SimTransaction::put_partition(const PartitionKey& key, const PartitionRow& row) {
    TRY_VOID(statement());
    TRY_VOID(lock('p', std::to_string(key.partition)));
    open_->changes.partitions.assign(1, {key.partition, row});
    return {};
}

Result<std::optional<int>> SimTransaction::first_partitions(const std::string&) {
    TRY_VOID(statement());
    std::optional<int> first;
    for (const auto& [partition, row] : database_.partitions)
        if (row.first_partitions)
            first = std::min(first.value_or(*row.first_partitions), *row.first_partitions);
    return first;
}

// --- conversations ----------------------------------------------------------------------------------------

const StoredRow* SimTransaction::conversation(const std::string& id) const {
    const auto changed = open_->changes.conversations.find(id);
    if (changed != open_->changes.conversations.end()) return &changed->second;
    const auto found = database_.conversations.find(id);
    return found == database_.conversations.end() ? nullptr : &found->second;
}

void SimTransaction::each_conversation(
    const std::function<void(const std::string&, const StoredRow&)>& look) const {
    const auto& changed = open_->changes.conversations;
    for (const auto& [id, row] : database_.conversations)
        if (changed.find(id) == changed.end()) look(id, row);
    for (const auto& [id, row] : changed) look(id, row);
}

Result<std::vector<StoredConversation>> SimTransaction::lock_conversations(
    const std::vector<std::string>& ids, int partition) {
    TRY_VOID(statement());
    std::vector<StoredConversation> rows;
    for (const std::string& id : ids) {
        if (id.starts_with("refused")) {
            constexpr int wrong_value = 1366;
            process_.schedule().faults.count(Fault::refused_by_database);
            return poisonous("incorrect string value", wrong_value);
        }
        TRY_VOID(lock('c', id));
        const StoredRow* row = conversation(id);
        if (row == nullptr || row->partition != partition) {
            StoredRow fresh = row == nullptr ? StoredRow{} : *row;
            fresh.partition = partition;
            row = &(open_->changes.conversations[id] = std::move(fresh));
        }
        rows.push_back({id, row->conversation, row->held, row->let_go_at});
    }
    return rows;
}

Result<Conversation> SimTransaction::lock_conversation(const std::string& id) {
    TRY_VOID(statement());
    TRY_VOID(lock('c', id));
    const StoredRow* row = conversation(id);
    if (row == nullptr) row = &open_->changes.conversations[id];
    return row->conversation;
}

Result<void> SimTransaction::put_conversations(const std::vector<StoredConversation>& rows) {
    TRY_VOID(statement());
    for (const StoredConversation& row : rows) {
        const StoredRow* before = conversation(row.id);
        const int partition = before == nullptr ? 0 : before->partition;
        open_->changes.conversations[row.id] = {row.conversation, partition, row.held, row.let_go_at};
    }
    return {};
}

std::vector<std::string> SimTransaction::by_due_time(
    const std::function<std::optional<Instant>(const StoredRow&)>& wanted, std::size_t limit) const {
    std::vector<std::pair<Instant, std::string>> due;
    each_conversation([&](const std::string& id, const StoredRow& row) {
        if (const auto at = wanted(row)) due.emplace_back(*at, id);
    });
    std::sort(due.begin(), due.end());
    if (due.size() > limit) due.resize(limit);
    std::vector<std::string> ids;
    for (auto& [at, id] : due) ids.push_back(std::move(id));
    return ids;
}

Result<std::vector<std::string>> SimTransaction::due_conversations(int partition, Instant clock,
                                                                   std::size_t limit) {
    TRY_VOID(statement());
    return by_due_time(
        [&](const StoredRow& row) {
            const auto at = row.partition == partition && !row.held ? due_at(row.conversation) : std::nullopt;
            return at && *at <= clock ? at : std::nullopt;
        },
        limit);
}

Result<std::vector<std::string>> SimTransaction::held_conversations(int partition, std::size_t limit) {
    TRY_VOID(statement());
    return by_due_time(
        [&](const StoredRow& row) {
            return row.partition == partition && row.held ? due_at(row.conversation) : std::nullopt;
        },
        limit);
}

Result<SilenceCensus> SimTransaction::silence_census(Instant from, Instant to, Instant let_go_since) {
    TRY_VOID(statement());
    SilenceCensus census;
    each_conversation([&](const std::string&, const StoredRow& row) {
        if (row.let_go_at && *row.let_go_at >= let_go_since) ++census.near;
        const auto* open = std::get_if<Open>(&row.conversation.standing);
        if (open == nullptr || !open->due) return;
        ++census.open;
        if (row.held || (*open->due >= from && *open->due <= to)) ++census.near;
    });
    return census;
}

Result<std::optional<Instant>> SimTransaction::next_due(int partition) {
    TRY_VOID(statement());
    std::optional<Instant> earliest;
    each_conversation([&](const std::string&, const StoredRow& row) {
        const auto at = row.partition == partition && !row.held ? due_at(row.conversation) : std::nullopt;
        if (at && (!earliest || *at < *earliest)) earliest = at;
    });
    return earliest;
}

// --- callbacks --------------------------------------------------------------------------------------------

const CallbackRow* SimTransaction::callback(std::int64_t id) const {
    const auto changed = open_->changes.callbacks.find(id);
    if (changed != open_->changes.callbacks.end()) return &changed->second;
    const auto found = database_.callbacks.find(id);
    return found == database_.callbacks.end() ? nullptr : &found->second;
}

Result<std::vector<CallbackRow>> SimTransaction::lock_active_callbacks(
    const std::vector<std::string>& conversation_ids) {
    TRY_VOID(statement());
    std::vector<std::int64_t> ids;
    for (const auto& [id, row] : database_.callbacks)
        if (std::find(conversation_ids.begin(), conversation_ids.end(), row.conversation_id) !=
            conversation_ids.end())
            ids.push_back(id);
    std::vector<CallbackRow> rows;
    for (const std::int64_t id : ids) {
        TRY_VOID(lock('b', std::to_string(id)));
        const CallbackRow& row = *callback(id);
        if (status_of(row.state.phase) == CallbackStatus::active) rows.push_back(row);
    }
    return rows;
}

Result<std::vector<std::string>> SimTransaction::watched_among(
    const std::vector<std::string>& conversation_ids) {
    TRY_VOID(statement());
    std::vector<std::string> watched;
    for (const auto& [id, row] : database_.callbacks)
        if (status_of(row.state.phase) == CallbackStatus::active &&
            std::find(conversation_ids.begin(), conversation_ids.end(), row.conversation_id) !=
                conversation_ids.end())
            watched.push_back(row.conversation_id);
    return watched;
}

Result<std::optional<CallbackRow>> SimTransaction::peek_callback(std::int64_t id) {
    TRY_VOID(statement());
    const CallbackRow* row = callback(id);
    return row == nullptr ? std::optional<CallbackRow>() : std::optional(*row);
}

Result<std::optional<CallbackRow>> SimTransaction::lock_callback(std::int64_t id) {
    TRY_VOID(statement());
    TRY_VOID(lock('b', std::to_string(id)));
    const CallbackRow* row = callback(id);
    return row == nullptr ? std::optional<CallbackRow>() : std::optional(*row);
}

Result<void> SimTransaction::put_callback_state(std::int64_t id, const CallbackState& state) {
    TRY_VOID(statement());
    TRY_VOID(lock('b', std::to_string(id)));
    CallbackRow row = *callback(id);
    row.state = state;
    open_->changes.callbacks[id] = std::move(row);
    return {};
}

Result<std::vector<std::int64_t>> SimTransaction::foreign_callbacks(std::size_t limit) {
    TRY_VOID(statement());
    std::vector<std::int64_t> ids;
    for (const auto& [id, row] : database_.foreign)
        if (ids.size() < limit) ids.push_back(id);
    return ids;
}

Result<std::optional<ForeignCallback>> SimTransaction::peek_foreign_callback(std::int64_t id) {
    TRY_VOID(statement());
    const auto found = database_.foreign.find(id);
    if (found == database_.foreign.end() || callback(id) != nullptr) return std::optional<ForeignCallback>();
    return std::optional(found->second);
}

Result<std::optional<ForeignCallback>> SimTransaction::lock_foreign_callback(std::int64_t id) {
    TRY_VOID(statement());
    TRY_VOID(lock('b', std::to_string(id)));
    return peek_foreign_callback(id);
}

Result<void> SimTransaction::insert_callback_progress(const CallbackRow& row) {
    TRY_VOID(statement());
    CallbackRow stored = row;
    stored.adopted_at = database_.now();
    open_->changes.callbacks[row.id] = std::move(stored);
    return {};
}

Result<std::int64_t> SimTransaction::insert_callback(const CallbackRow& row) {
    TRY_VOID(statement());
    const std::int64_t id = database_.next_callback++;
    TRY_VOID(lock('b', std::to_string(id)));
    TRY_VOID(lock('k', row.idempotency_key));
    constexpr int duplicate_key = 1062;
    if (database_.idempotency_keys.count(row.idempotency_key) > 0)
        return retryable("duplicate key", duplicate_key);
    CallbackRow stored = row;
    stored.id = id;
    stored.adopted_at = database_.now();
    open_->changes.callbacks[id] = std::move(stored);
    return id;
}

Result<std::optional<std::int64_t>> SimTransaction::callback_with_idempotency_key(const std::string& key) {
    TRY_VOID(statement());
    const auto found = database_.idempotency_keys.find(key);
    return found == database_.idempotency_keys.end() ? std::optional<std::int64_t>()
                                                     : std::optional(found->second);
}

/// Nobody in the world comes by the API: each request is the first of its key.
Result<KeptRequest> SimTransaction::keep_request(const KeptRequest& request) {
    TRY_VOID(statement());
    return request;
}

// --- deliveries, dead letters -----------------------------------------------------------------------------

const DeliveryRow* SimTransaction::delivery(const std::string& id) const {
    const auto changed = open_->changes.deliveries.find(id);
    if (changed != open_->changes.deliveries.end()) return &changed->second;
    const auto found = database_.ordinals.find(id);
    return found == database_.ordinals.end() ? nullptr : &database_.deliveries.at(found->second);
}

Result<std::vector<std::string>> SimTransaction::insert_deliveries(const std::vector<DeliveryRow>& rows) {
    TRY_VOID(statement());
    std::vector<std::string> inserted;
    for (const DeliveryRow& row : rows) {
        TRY_VOID(lock('d', row.id));
        if (database_.ordinals.count(row.id) > 0 ||
            database_.delivery_turns.count({row.callback_id, row.turn_key}) > 0)
            continue;
        DeliveryRow stored = row;
        stored.created_at = database_.now();
        if (!stored.next_attempt_at) stored.next_attempt_at = stored.created_at;
        open_->changes.inserted.emplace_back(database_.next_ordinal++, std::move(stored));
        inserted.push_back(row.id);
    }
    return inserted;
}

Result<std::optional<DeliveryRow>> SimTransaction::lock_delivery(const std::string& id) {
    TRY_VOID(statement());
    TRY_VOID(lock('d', id));
    const DeliveryRow* row = delivery(id);
    if (row == nullptr) return std::optional<DeliveryRow>();
    std::optional<DeliveryRow> read(*row);
    read->progress.wait.reset();  // no column holds it
    return read;
}

Result<void> SimTransaction::put_delivery(const DeliveryRow& row) {
    TRY_VOID(statement());
    TRY_VOID(lock('d', row.id));
    open_->changes.deliveries[row.id] = row;
    return {};
}

Result<std::vector<DeliveryRow>> SimTransaction::lock_deliveries_of(const TurnId& turn) {
    TRY_VOID(statement());
    std::vector<std::string> ids;
    for (const auto& [ordinal, row] : database_.deliveries)
        if (row.conversation_id == turn.conversation_id && row.turn_key == turn.turn_key)
            ids.push_back(row.id);
    std::vector<DeliveryRow> rows;
    for (const std::string& id : ids) {
        TRY(const auto row, lock_delivery(id));
        rows.push_back(*row);
    }
    return rows;
}

Result<bool> SimTransaction::has_older_open_delivery(const DeliveryRow& row) {
    TRY_VOID(statement());
    return !database_.is_first(database_.ordinals.at(row.id), row);
}

Result<bool> SimTransaction::has_delivery_to(const std::string& conversation_id, const std::string& turn_key,
                                             const std::string& sink, const std::string& target) {
    TRY_VOID(statement());
    return std::any_of(database_.deliveries.begin(), database_.deliveries.end(), [&](const auto& entry) {
        const DeliveryRow& row = entry.second;
        return row.conversation_id == conversation_id && row.turn_key == turn_key && row.sink == sink &&
               row.target == target;
    });
}

Result<std::vector<DeliveryRow>> SimTransaction::due_deliveries(std::size_t limit) {
    TRY_VOID(statement());
    const Instant now = database_.now();
    std::vector<DeliveryRow> due;
    for (const std::int64_t ordinal : database_.timed) {
        const DeliveryRow& row = database_.deliveries.at(ordinal);
        const bool is_due = row.next_attempt_at && *row.next_attempt_at <= now && is_free(row, now);
        if (is_due && database_.is_first(ordinal, row)) due.push_back(row);
        if (due.size() == limit) break;
    }
    return due;
}

Result<std::vector<DeliveryRow>> SimTransaction::due_heals(std::size_t limit) {
    TRY_VOID(statement());
    const Instant now = database_.now();
    std::vector<DeliveryRow> due;
    for (const auto& [due_at, ordinal] : database_.healing) {
        if (due_at > now || due.size() == limit) break;
        const DeliveryRow& row = database_.deliveries.at(ordinal);
        if (is_free(row, now)) due.push_back(row);
    }
    return due;
}

Result<void> SimTransaction::insert_dead_letters(const std::vector<DeadLetterRow>& rows) {
    if (rows.empty()) return {};
    TRY_VOID(statement());
    auto& letters = open_->changes.dead_letters;
    letters.insert(letters.end(), rows.begin(), rows.end());
    return {};
}

}  // namespace epilogue::sim
