// One session of a process with the database of the world, and the rows as its transaction sees them.
#pragma once

#include <optional>

#include "tests/sim/database.h"
#include "tests/sim/pace_rows.h"
#include "tests/sim/process.h"
#include "worker/store/commit_protocol.h"

namespace epilogue::sim {

/// The rows: what is committed, under what this transaction has changed.
class SimTransaction final : public Transaction {
  public:
    SimTransaction(Database& database, Process& process, std::int64_t session)
        : database_(database), process_(process), session_(session), pace_(database, *this) {}

    void begin();
    bool is_open() const { return open_ && !open_->ended; }
    bool is_lost() const { return lost_; }
    std::shared_ptr<OpenTransaction> open() const { return open_; }
    void drop();
    /// It is no longer this session's to end.
    void forget() { open_.reset(); }

    Result<Instant> now() override { return database_.now(); }
    std::int64_t connection_id() override { return session_; }

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
    /// Replays are not part of the world.
    Result<std::optional<DeadLetterRow>> lock_dead_letter(std::int64_t) override {
        return std::optional<DeadLetterRow>();
    }
    Result<void> mark_replayed(std::int64_t) override { return {}; }

    /// Every statement starts here: others may run, and it may fail.
    Result<void> statement();
    Result<void> lock(char table, std::string_view row, bool to_share = false);
    /// Whether another transaction has it.
    bool is_locked(char table, std::string_view row) const;
    Changes& changes() { return open_->changes; }

  private:
    const StoredRow* conversation(const std::string& id) const;
    const CallbackRow* callback(std::int64_t id) const;
    const DeliveryRow* delivery(const std::string& id) const;
    const SummaryRow* summary(const TurnId& turn) const;
    /// Ids of the conversations that `wanted` gives a due time for, ascending by it.
    std::vector<std::string> by_due_time(
        const std::function<std::optional<Instant>(const StoredRow&)>& wanted, std::size_t limit) const;
    /// Calls `look` with each conversation as this transaction sees it.
    void each_conversation(const std::function<void(const std::string&, const StoredRow&)>& look) const;

    Database& database_;
    Process& process_;
    const std::int64_t session_;
    std::shared_ptr<OpenTransaction> open_;
    bool lost_ = false;  ///< the connection is gone
    SimPaceRows pace_;
};

class SimSession final : public StoreSession {
  public:
    SimSession(Database& database, Process& process)
        : database_(database),
          process_(process),
          id_(database.new_session()),
          transaction_(database, process, id_) {}
    /// A process that goes away takes its open transactions with it.
    ~SimSession() override { transaction_.drop(); }

    Result<void> begin() override;
    Result<void> send_commit() override;
    void roll_back() override { transaction_.drop(); }
    Transaction& rows() override { return transaction_; }
    std::int64_t connection_id() const override { return id_; }
    bool is_broken() const { return broken_ || transaction_.is_lost(); }

  private:
    Failure lost(const char* why);

    Database& database_;
    Process& process_;
    const std::int64_t id_;
    SimTransaction transaction_;
    bool broken_ = false;
};

}  // namespace epilogue::sim
