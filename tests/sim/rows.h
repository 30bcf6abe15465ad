// The rows of each table group as one transaction of the simulation sees them: what is committed, under what
// the transaction itself has changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/database.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/credential_rows.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/gap_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/rate_limit_rows.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue::sim {

class SimTransaction;

/// Whether no worker holds a lease on it.
inline bool is_free(const DeliveryRow& row, Instant now) {
    return !row.lease_until || *row.lease_until <= now;
}

class SimPartitionRows final : public PartitionRows {
  public:
    explicit SimPartitionRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<std::optional<PartitionRow>> lock(const PartitionKey& key) override;
    Result<std::optional<PartitionRow>> read(const PartitionKey& key) override;
    Result<void> update(const PartitionKey& key, const PartitionRow& row) override;
    Result<std::optional<int>> first_count(const std::string& topic) override;
    Result<int> known_count(const std::string& topic) override;

  private:
    SimTransaction& transaction_;
};

class SimConversationRows final : public ConversationRows {
  public:
    explicit SimConversationRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<std::vector<StoredConversation>> lock(const std::vector<ConversationId>& ids,
                                                 int partition) override;
    Result<Conversation> lock_one(const ConversationId& id) override;
    Result<std::optional<int>> partition_of(const ConversationId& id) override;
    Result<void> note_guess(const ConversationId& id) override;
    Result<void> update(const std::vector<StoredConversation>& rows) override;
    Result<std::vector<ConversationId>> due(int partition, Instant clock, std::size_t limit) override;
    Result<std::vector<ConversationId>> suspended(int partition, std::size_t limit) override;
    Result<InactivityCensus> inactivity_census(Instant from, Instant to, Instant resumed_since) override;
    Result<std::optional<Instant>> next_due(int partition) override;

  private:
    const StoredRow* conversation(const ConversationId& id) const;
    /// Ids of the conversations that `wanted` gives a due time for, ascending by it.
    std::vector<ConversationId> by_due_time(
        const std::function<std::optional<Instant>(const StoredRow&)>& wanted, std::size_t limit) const;
    /// Calls `on_row` with each conversation as this transaction sees it.
    void each_conversation(const std::function<void(const ConversationId&, const StoredRow&)>& on_row) const;

    SimTransaction& transaction_;
};

class SimCallbackRows final : public CallbackRows {
  public:
    explicit SimCallbackRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<std::vector<CallbackRow>> lock_active(
        const std::vector<ConversationId>& conversation_ids) override;
    Result<std::vector<ConversationId>> watched_among(
        const std::vector<ConversationId>& conversation_ids) override;
    Result<std::optional<CallbackRow>> read(CallbackId id) override;
    Result<std::optional<CallbackRow>> lock(CallbackId id) override;
    Result<void> update_state(CallbackId id, const CallbackState& state) override;
    Result<UnadoptedChunk> unadopted(CallbackId after, std::size_t limit) override;
    Result<std::optional<UnadoptedCallback>> read_unadopted(CallbackId id) override;
    Result<std::optional<UnadoptedCallback>> lock_unadopted(CallbackId id) override;
    Result<void> insert_progress(const CallbackRow& row) override;
    Result<CallbackId> insert(const CallbackRow& row) override;
    Result<std::optional<CallbackId>> with_idempotency_key(const std::string& key) override;
    Result<IdempotentRequest> save_idempotency_key(const IdempotentRequest& request) override;
    Result<void> point_idempotency_key(const std::string& key, const std::string& registration) override;

  private:
    const CallbackRow* callback(CallbackId id) const;

    SimTransaction& transaction_;
};

class SimAgentEndpointRows final : public AgentEndpointRows {
  public:
    explicit SimAgentEndpointRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<void> save(const AgentEndpoint& endpoint) override;
    Result<std::optional<AgentEndpoint>> find(const ConversationId& conversation_id) override;
    Result<std::vector<ConversationId>> among(const std::vector<ConversationId>& conversation_ids) override;

  private:
    SimTransaction& transaction_;
};

class SimReconcileRows final : public ReconcileRows {
  public:
    explicit SimReconcileRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<void> request(const ReconcileRow& row) override;
    Result<std::vector<DueReconcile>> due(const std::optional<DueReconcile>& after,
                                          std::size_t limit) override;
    Result<std::optional<ReconcileRow>> lock(const ConversationId& conversation_id) override;
    Result<void> update(const ReconcileRow& row) override;
    Result<void> remove(const ConversationId& conversation_id) override;
    Result<std::size_t> not_begun(ReconcileReason why, std::size_t limit) override;

  private:
    SimTransaction& transaction_;
};

class SimSummaryRows final : public SummaryRows {
  public:
    explicit SimSummaryRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<void> insert(const std::vector<SummaryRow>& rows) override;
    Result<std::optional<SummaryRow>> find(const TurnId& turn) override;
    Result<std::optional<SummaryRow>> lock(const TurnId& turn) override;
    Result<void> update(const SummaryRow& row) override;
    Result<std::vector<TurnId>> owed(std::size_t limit) override;
    Result<std::string> keep_instruction(const TurnId& turn, const std::string& ask_id) override;
    Result<LlmSpending> lock_llm_spending(const std::string& model, const std::string& day) override;
    Result<void> put_llm_spending(const std::string& model, const std::string& day,
                                  const LlmSpending& spending) override;

  private:
    const SummaryRow* summary(const TurnId& turn) const;

    SimTransaction& transaction_;
};

class SimDeliveryRows final : public DeliveryRows {
  public:
    explicit SimDeliveryRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<std::vector<DeliveryId>> insert(const std::vector<DeliveryRow>& rows) override;
    Result<std::optional<DeliveryRow>> lock(const DeliveryId& id) override;
    Result<void> update(const DeliveryRow& row) override;
    Result<std::vector<DeliveryRow>> lock_of(const TurnId& turn) override;
    Result<bool> has_older_open(const DeliveryRow& row) override;
    Result<std::vector<SiblingDelivery>> siblings(const DeliveryRow& row) override;
    Result<bool> exists_to(const TurnId& turn, const std::string& sink, const std::string& target) override;
    Result<std::vector<DueDelivery>> due(std::size_t limit) override;
    Result<std::vector<DueDelivery>> due_dedups(std::size_t limit) override;

  private:
    const DeliveryRow* delivery(const DeliveryId& id) const;

    SimTransaction& transaction_;
};

class SimRateLimitRows final : public RateLimitRows {
  public:
    explicit SimRateLimitRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<RateWindow> read(const std::string& window) override;
    Result<RateWindow> share_lock(const std::string& window) override;
    Result<RateWindow> lock(const std::string& window) override;
    Result<void> update(const std::string& window, const RateWindow& row, Instant open_at) override;
    Result<std::vector<std::string>> open_queues(std::size_t limit) override;
    Result<std::vector<DueDelivery>> queue_heads(const std::string& window, std::size_t limit) override;
    Result<bool> has_queue(const std::string& window) override;

  private:
    SimTransaction& transaction_;
};

class SimCredentialRows final : public CredentialRows {
  public:
    explicit SimCredentialRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<CredentialRow> read(const std::string& credential) override;
    Result<CredentialRow> lock(const std::string& credential) override;
    Result<void> update(const std::string& credential, const CredentialRow& row) override;
    Result<std::vector<std::string>> unsettled(std::size_t limit) override;
    Result<std::vector<std::string>> to_probe(std::size_t limit) override;
    Result<std::vector<DownCredential>> down(std::size_t limit) override;
    Result<std::vector<DueDelivery>> held_posts(const std::string& credential, const std::string& look_queue,
                                                bool newest, std::size_t limit) override;
    Result<std::optional<DueDelivery>> oldest_parked(const std::string& credential) override;
    Result<ParkedBatch> park(const std::string& credential, const std::string& cause,
                             std::size_t limit) override;
    Result<ParkedBatch> release(const std::string& credential, std::size_t limit) override;

  private:
    /// Changes what `change` gives a new row for.
    Result<ParkedBatch> change(const std::string& credential, std::size_t limit,
                               const std::function<std::optional<DeliveryRow>(const DeliveryRow&)>& change);

    SimTransaction& transaction_;
};

class SimDeadLetterRows final : public DeadLetterRows {
  public:
    explicit SimDeadLetterRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<void> insert(const std::vector<DeadLetterRow>& rows) override;
    /// Replays are not part of the world.
    Result<std::optional<DeadLetterRow>> lock(std::int64_t) override {
        return std::optional<DeadLetterRow>();
    }
    Result<void> mark_replayed(std::int64_t) override { return {}; }

  private:
    SimTransaction& transaction_;
};

class SimGapRows final : public GapRows {
  public:
    explicit SimGapRows(SimTransaction& transaction) : transaction_(transaction) {}

    Result<void> insert(const GapRow& gap) override;
    Result<std::optional<GapRow>> lock_next() override;
    Result<GapChunk> next_chunk(const GapRow& gap, std::size_t limit) override;
    Result<std::int64_t> count_remaining(const GapRow& gap) override;
    Result<void> update(const GapRow& gap) override;

  private:
    /// The callbacks that next_chunk() speaks of.
    std::vector<const CallbackRow*> concerned(const GapRow& gap) const;

    SimTransaction& transaction_;
};

}  // namespace epilogue::sim
