#include "tests/integration/point_store.h"

namespace epilogue::testing {
namespace {

/// Says each statement that another transaction has done.
class PointTransaction final : public Transaction {
  public:
    PointTransaction(Transaction& rows, const OnPoint& on_point) : rows_(rows), on_point_(on_point) {}

    std::int64_t connection_id() override { return rows_.connection_id(); }

    Result<Instant> now() override { return said("the time is read", rows_.now()); }
    Result<std::optional<PartitionRow>> lock_partition(const PartitionKey& key) override {
        return said("the partition is locked", rows_.lock_partition(key));
    }
    Result<std::optional<PartitionRow>> peek_partition(const PartitionKey& key) override {
        return said("the partition is read", rows_.peek_partition(key));
    }
    Result<void> put_partition(const PartitionKey& key, const PartitionRow& row) override {
        return said("the partition is written", rows_.put_partition(key, row));
    }
    Result<std::optional<int>> first_partitions(const std::string& topic) override {
        return said("the first partitions are read", rows_.first_partitions(topic));
    }
    Result<std::vector<StoredConversation>> lock_conversations(const std::vector<std::string>& ids,
                                                               int partition) override {
        return said("the conversations are locked", rows_.lock_conversations(ids, partition));
    }
    Result<Conversation> lock_conversation(const std::string& id) override {
        return said("the conversation is locked", rows_.lock_conversation(id));
    }
    Result<int> known_partitions(const std::string& topic) override {
        return said("the partitions are counted", rows_.known_partitions(topic));
    }
    Result<std::optional<int>> partition_of(const std::string& conversation_id) override {
        return said("the conversation's partition is read", rows_.partition_of(conversation_id));
    }
    Result<void> put_conversations(const std::vector<StoredConversation>& rows) override {
        return said("the conversations are written", rows_.put_conversations(rows));
    }
    Result<std::vector<std::string>> due_conversations(int partition, Instant clock,
                                                       std::size_t limit) override {
        return said("the due conversations are read", rows_.due_conversations(partition, clock, limit));
    }
    Result<std::vector<std::string>> held_conversations(int partition, std::size_t limit) override {
        return said("the held conversations are read", rows_.held_conversations(partition, limit));
    }
    Result<SilenceCensus> silence_census(Instant from, Instant to, Instant let_go_since) override {
        return said("the silences are counted", rows_.silence_census(from, to, let_go_since));
    }
    Result<std::optional<Instant>> next_due(int partition) override {
        return said("the next due time is read", rows_.next_due(partition));
    }
    Result<std::vector<CallbackRow>> lock_active_callbacks(const std::vector<std::string>& ids) override {
        return said("the callbacks are locked", rows_.lock_active_callbacks(ids));
    }
    Result<std::vector<std::string>> watched_among(const std::vector<std::string>& ids) override {
        return said("who is watched is read", rows_.watched_among(ids));
    }
    Result<std::optional<CallbackRow>> peek_callback(std::int64_t id) override {
        return said("the callback is read", rows_.peek_callback(id));
    }
    Result<std::optional<CallbackRow>> lock_callback(std::int64_t id) override {
        return said("the callback is locked", rows_.lock_callback(id));
    }
    Result<void> put_callback_state(std::int64_t id, const CallbackState& state) override {
        return said("a callback's state is written", rows_.put_callback_state(id, state));
    }
    Result<std::vector<std::int64_t>> foreign_callbacks(std::size_t limit) override {
        return said("the foreign rows are listed", rows_.foreign_callbacks(limit));
    }
    Result<std::optional<ForeignCallback>> peek_foreign_callback(std::int64_t id) override {
        return said("the foreign row is read", rows_.peek_foreign_callback(id));
    }
    Result<std::optional<ForeignCallback>> lock_foreign_callback(std::int64_t id) override {
        return said("the foreign row is locked", rows_.lock_foreign_callback(id));
    }
    Result<void> insert_callback_progress(const CallbackRow& row) override {
        return said("the callback's progress is inserted", rows_.insert_callback_progress(row));
    }
    Result<std::int64_t> insert_callback(const CallbackRow& row) override {
        return said("the callback is inserted", rows_.insert_callback(row));
    }
    Result<std::optional<std::int64_t>> callback_with_idempotency_key(const std::string& key) override {
        return said("the idempotency key is looked up", rows_.callback_with_idempotency_key(key));
    }
    Result<KeptRequest> keep_request(const KeptRequest& request) override {
        return said("the request is kept", rows_.keep_request(request));
    }
    Result<void> put_agent_endpoint(const AgentEndpoint& endpoint) override {
        return said("the agent server's address is written", rows_.put_agent_endpoint(endpoint));
    }
    Result<std::optional<AgentEndpoint>> agent_endpoint(const std::string& conversation_id) override {
        return said("the agent server's address is read", rows_.agent_endpoint(conversation_id));
    }
    Result<void> ask_catch_up(const CatchUpRow& row) override {
        return said("a catch-up is asked for", rows_.ask_catch_up(row));
    }
    Result<std::vector<std::string>> due_catch_ups(std::size_t limit) override {
        return said("the due catch-ups are read", rows_.due_catch_ups(limit));
    }
    Result<std::optional<CatchUpRow>> lock_catch_up(const std::string& conversation_id) override {
        return said("the catch-up is locked", rows_.lock_catch_up(conversation_id));
    }
    Result<void> put_catch_up(const CatchUpRow& row) override {
        return said("the catch-up is written", rows_.put_catch_up(row));
    }
    Result<void> remove_catch_up(const std::string& conversation_id) override {
        return said("the catch-up is removed", rows_.remove_catch_up(conversation_id));
    }
    Result<void> insert_summaries(const std::vector<SummaryRow>& rows) override {
        return said("the summaries are inserted", rows_.insert_summaries(rows));
    }
    Result<std::optional<SummaryRow>> summary_of(const std::string& conversation_id,
                                                 const std::string& turn_key) override {
        return said("the summary is read", rows_.summary_of(conversation_id, turn_key));
    }
    Result<std::optional<SummaryRow>> lock_summary(const TurnId& turn) override {
        return said("the summary is locked", rows_.lock_summary(turn));
    }
    Result<void> put_summary(const SummaryRow& row) override {
        return said("the summary is written", rows_.put_summary(row));
    }
    Result<std::vector<TurnId>> owed_summaries(std::size_t limit) override {
        return rows_.owed_summaries(limit);
    }
    Result<std::vector<std::string>> with_agent_server(
        const std::vector<std::string>& conversation_ids) override {
        return said("the agent servers are looked for", rows_.with_agent_server(conversation_ids));
    }
    Result<std::vector<std::string>> insert_deliveries(const std::vector<DeliveryRow>& rows) override {
        return said("the deliveries are inserted", rows_.insert_deliveries(rows));
    }
    Result<std::optional<DeliveryRow>> lock_delivery(const std::string& id) override {
        return said("the delivery is locked", rows_.lock_delivery(id));
    }
    Result<std::vector<DeliveryRow>> lock_deliveries_of(const TurnId& turn) override {
        return said("the turn's deliveries are locked", rows_.lock_deliveries_of(turn));
    }
    Result<void> put_delivery(const DeliveryRow& row) override {
        return said("the delivery is written", rows_.put_delivery(row));
    }
    Result<bool> has_older_open_delivery(const DeliveryRow& row) override {
        return said("older deliveries are looked for", rows_.has_older_open_delivery(row));
    }
    Result<bool> has_delivery_to(const std::string& conversation_id, const std::string& turn_key,
                                 const std::string& sink, const std::string& target) override {
        return said("a delivery to the same place is looked for",
                    rows_.has_delivery_to(conversation_id, turn_key, sink, target));
    }
    Result<std::vector<DeliveryRow>> due_deliveries(std::size_t limit) override {
        return said("the due deliveries are read", rows_.due_deliveries(limit));
    }
    Result<std::vector<DeliveryRow>> due_heals(std::size_t limit) override {
        return said("the due checks are read", rows_.due_heals(limit));
    }
    PaceRows& pace() override { return rows_.pace(); }
    Result<void> insert_dead_letters(const std::vector<DeadLetterRow>& rows) override {
        return said("the dead letters are inserted", rows_.insert_dead_letters(rows));
    }
    Result<std::optional<DeadLetterRow>> lock_dead_letter(std::int64_t id) override {
        return said("the dead letter is locked", rows_.lock_dead_letter(id));
    }
    Result<void> mark_replayed(std::int64_t id) override {
        return said("the dead letter is marked", rows_.mark_replayed(id));
    }

  private:
    template <class T>
    Result<T> said(const char* point, Result<T> result) {
        if (result) on_point_(point, rows_.connection_id());
        return result;
    }

    Transaction& rows_;
    const OnPoint& on_point_;
};

}  // namespace

Result<void> PointStore::transact(const Work& work, const Check& is_done) {
    const auto watched = [&](Transaction& rows) -> Result<void> {
        on_point_(point::begun, rows.connection_id());
        PointTransaction transaction(rows, on_point_);
        TRY_VOID(work(transaction));
        on_point_(point::before_commit, rows.connection_id());
        return {};
    };
    on_point_(point::before_begin, 0);
    TRY_VOID(store_.transact(watched, is_done));
    on_point_(point::committed, 0);
    return {};
}

}  // namespace epilogue::testing
