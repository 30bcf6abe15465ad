// Transaction over one MySQL session: SQL that MySQL 8 and MariaDB 10.11 both take.
#pragma once

#include "base/io/mysql.h"
#include "worker/mysql/rate_limit_rows.h"
#include "worker/store/store.h"

namespace epilogue {

class MysqlTransaction final : public Transaction {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlTransaction(MysqlSession& session) : session_(session), pace_(session) {}

    Result<Instant> now() override;
    std::int64_t connection_id() override { return session_.connection_id(); }

    Result<std::optional<PartitionRow>> lock_partition(const PartitionKey& key) override;
    Result<std::optional<PartitionRow>> peek_partition(const PartitionKey& key) override;
    Result<void> put_partition(const PartitionKey& key, const PartitionRow& row) override;
    Result<std::optional<int>> first_partitions(const std::string& topic) override;
    Result<int> known_partitions(const std::string& topic) override;

    Result<std::vector<StoredConversation>> lock_conversations(const std::vector<std::string>& ids,
                                                               int partition) override;
    Result<Conversation> lock_conversation(const std::string& id) override;
    Result<std::optional<int>> partition_of(const std::string& conversation_id) override;
    Result<void> put_conversations(const std::vector<StoredConversation>& rows) override;
    Result<std::vector<std::string>> due_conversations(int partition, Instant clock,
                                                       std::size_t limit) override;
    Result<std::vector<std::string>> held_conversations(int partition, std::size_t limit) override;
    Result<SilenceCensus> silence_census(Instant from, Instant to, Instant let_go_since) override;
    Result<std::optional<Instant>> next_due(int partition) override;

    Result<std::vector<CallbackRow>> lock_active_callbacks(
        const std::vector<std::string>& conversation_ids) override;
    Result<std::vector<std::string>> watched_among(const std::vector<std::string>& conversation_ids) override;
    Result<std::optional<CallbackRow>> peek_callback(std::int64_t id) override;
    Result<std::optional<CallbackRow>> lock_callback(std::int64_t id) override;
    Result<void> put_callback_state(std::int64_t id, const CallbackState& state) override;
    Result<std::vector<std::int64_t>> foreign_callbacks(std::size_t limit) override;
    Result<std::optional<ForeignCallback>> peek_foreign_callback(std::int64_t id) override;
    Result<std::optional<ForeignCallback>> lock_foreign_callback(std::int64_t id) override;
    Result<void> insert_callback_progress(const CallbackRow& row) override;
    Result<std::int64_t> insert_callback(const CallbackRow& row) override;
    Result<std::optional<std::int64_t>> callback_with_idempotency_key(const std::string& key) override;
    Result<KeptRequest> keep_request(const KeptRequest& request) override;

    Result<void> put_agent_endpoint(const AgentEndpoint& endpoint) override;
    Result<std::optional<AgentEndpoint>> agent_endpoint(const std::string& conversation_id) override;
    Result<std::vector<std::string>> with_agent_server(
        const std::vector<std::string>& conversation_ids) override;
    Result<void> ask_catch_up(const CatchUpRow& row) override;
    Result<std::vector<std::string>> due_catch_ups(std::size_t limit) override;
    Result<std::optional<CatchUpRow>> lock_catch_up(const std::string& conversation_id) override;
    Result<void> put_catch_up(const CatchUpRow& row) override;
    Result<void> remove_catch_up(const std::string& conversation_id) override;

    Result<void> insert_summaries(const std::vector<SummaryRow>& rows) override;
    Result<std::optional<SummaryRow>> summary_of(const std::string& conversation_id,
                                                 const std::string& turn_key) override;
    Result<std::optional<SummaryRow>> lock_summary(const TurnId& turn) override;
    Result<void> put_summary(const SummaryRow& row) override;
    Result<std::vector<TurnId>> owed_summaries(std::size_t limit) override;

    Result<std::vector<std::string>> insert_deliveries(const std::vector<DeliveryRow>& rows) override;
    Result<std::optional<DeliveryRow>> lock_delivery(const std::string& id) override;
    Result<void> put_delivery(const DeliveryRow& row) override;
    Result<std::vector<DeliveryRow>> lock_deliveries_of(const TurnId& turn) override;
    Result<bool> has_older_open_delivery(const DeliveryRow& row) override;
    Result<bool> has_delivery_to(const std::string& conversation_id, const std::string& turn_key,
                                 const std::string& sink, const std::string& target) override;
    Result<std::vector<DeliveryRow>> due_deliveries(std::size_t limit) override;
    Result<std::vector<DeliveryRow>> due_heals(std::size_t limit) override;

    PaceRows& pace() override { return pace_; }

    Result<void> insert_dead_letters(const std::vector<DeadLetterRow>& rows) override;
    Result<std::optional<DeadLetterRow>> lock_dead_letter(std::int64_t id) override;
    Result<void> mark_replayed(std::int64_t dead_letter_id) override;

  private:
    Result<std::optional<SummaryRow>> summary_row(const TurnId& turn, const std::string& lock);
    Result<std::optional<ForeignCallback>> foreign_callback(std::int64_t id, const std::string& lock);
    Result<std::optional<PartitionRow>> partition_row(const PartitionKey& key, const std::string& lock);
    Result<std::vector<std::string>> ids_where(const std::string& condition,
                                               const std::vector<SqlValue>& values, std::size_t limit);
    Result<std::vector<CallbackRow>> callbacks_where(const std::string& condition,
                                                     const std::vector<SqlValue>& values);

    MysqlSession& session_;
    MysqlPaceRows pace_;
    /// When lock_delivery was sent: whoever steps a delivery asks for the time next, and is spared the way.
    /// It may have waited for the row since, which makes the time an earlier one: leases are shorter for it,
    /// never longer.
    std::optional<Instant> now_;
};

}  // namespace epilogue
