#include "tests/integration/point_store.h"

#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/rate_limit_rows.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue::testing {
namespace {

/// Says each statement that another transaction has done.
class Points {
  public:
    Points(Transaction& inner, const OnPoint& on_point) : inner_(inner), on_point_(on_point) {}

    template <class T>
    Result<T> said(const char* point, Result<T> result) const {
        if (result) on_point_(point, inner_.connection_id());
        return result;
    }

  private:
    Transaction& inner_;
    const OnPoint& on_point_;
};

class PointPartitionRows final : public PartitionRows {
  public:
    PointPartitionRows(PartitionRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<std::optional<PartitionRow>> lock(const PartitionKey& key) override {
        return points_.said("the partition is locked", inner_.lock(key));
    }
    Result<std::optional<PartitionRow>> read(const PartitionKey& key) override {
        return points_.said("the partition is read", inner_.read(key));
    }
    Result<void> update(const PartitionKey& key, const PartitionRow& row) override {
        return points_.said("the partition is written", inner_.update(key, row));
    }
    Result<std::optional<int>> first_count(const std::string& topic) override {
        return points_.said("the first partitions are read", inner_.first_count(topic));
    }
    Result<int> known_count(const std::string& topic) override {
        return points_.said("the partitions are counted", inner_.known_count(topic));
    }

  private:
    PartitionRows& inner_;
    const Points& points_;
};

class PointConversationRows final : public ConversationRows {
  public:
    PointConversationRows(ConversationRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<std::vector<StoredConversation>> lock(const std::vector<ConversationId>& ids,
                                                 int partition) override {
        return points_.said("the conversations are locked", inner_.lock(ids, partition));
    }
    Result<Conversation> lock_one(const ConversationId& id) override {
        return points_.said("the conversation is locked", inner_.lock_one(id));
    }
    Result<std::optional<int>> partition_of(const ConversationId& id) override {
        return points_.said("the conversation's partition is read", inner_.partition_of(id));
    }
    Result<void> note_guess(const ConversationId& id) override {
        return points_.said("the conversation's partition is noted as a guess", inner_.note_guess(id));
    }
    Result<void> update(const std::vector<StoredConversation>& rows) override {
        return points_.said("the conversations are written", inner_.update(rows));
    }
    Result<std::vector<ConversationId>> due(int partition, Instant clock, std::size_t limit) override {
        return points_.said("the due conversations are read", inner_.due(partition, clock, limit));
    }
    Result<std::vector<ConversationId>> suspended(int partition, std::size_t limit) override {
        return points_.said("the held conversations are read", inner_.suspended(partition, limit));
    }
    Result<InactivityCensus> inactivity_census(Instant from, Instant to, Instant resumed_since) override {
        return points_.said("the silences are counted", inner_.inactivity_census(from, to, resumed_since));
    }
    Result<std::optional<Instant>> next_due(int partition) override {
        return points_.said("the next due time is read", inner_.next_due(partition));
    }

  private:
    ConversationRows& inner_;
    const Points& points_;
};

class PointCallbackRows final : public CallbackRows {
  public:
    PointCallbackRows(CallbackRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<std::vector<CallbackRow>> lock_active(
        const std::vector<ConversationId>& conversation_ids) override {
        return points_.said("the callbacks are locked", inner_.lock_active(conversation_ids));
    }
    Result<std::vector<ConversationId>> watched_among(
        const std::vector<ConversationId>& conversation_ids) override {
        return points_.said("who is watched is read", inner_.watched_among(conversation_ids));
    }
    Result<std::optional<CallbackRow>> read(CallbackId id) override {
        return points_.said("the callback is read", inner_.read(id));
    }
    Result<std::optional<CallbackRow>> lock(CallbackId id) override {
        return points_.said("the callback is locked", inner_.lock(id));
    }
    Result<void> update_state(CallbackId id, const CallbackState& state) override {
        return points_.said("a callback's state is written", inner_.update_state(id, state));
    }
    Result<UnadoptedChunk> unadopted(CallbackId after, std::size_t limit) override {
        return points_.said("the foreign rows are listed", inner_.unadopted(after, limit));
    }
    Result<std::optional<UnadoptedCallback>> read_unadopted(CallbackId id) override {
        return points_.said("the foreign row is read", inner_.read_unadopted(id));
    }
    Result<std::optional<UnadoptedCallback>> lock_unadopted(CallbackId id) override {
        return points_.said("the foreign row is locked", inner_.lock_unadopted(id));
    }
    Result<void> insert_progress(const CallbackRow& row) override {
        return points_.said("the callback's progress is inserted", inner_.insert_progress(row));
    }
    Result<CallbackId> insert(const CallbackRow& row) override {
        return points_.said("the callback is inserted", inner_.insert(row));
    }
    Result<std::optional<CallbackId>> with_idempotency_key(const std::string& key) override {
        return points_.said("the idempotency key is looked up", inner_.with_idempotency_key(key));
    }
    Result<IdempotentRequest> save_idempotency_key(const IdempotentRequest& request) override {
        return points_.said("the request is kept", inner_.save_idempotency_key(request));
    }
    Result<void> point_idempotency_key(const std::string& key, const std::string& registration) override {
        return points_.said("the key points", inner_.point_idempotency_key(key, registration));
    }

  private:
    CallbackRows& inner_;
    const Points& points_;
};

class PointAgentEndpointRows final : public AgentEndpointRows {
  public:
    PointAgentEndpointRows(AgentEndpointRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<void> save(const AgentEndpoint& endpoint) override {
        return points_.said("the agent server's address is written", inner_.save(endpoint));
    }
    Result<std::optional<AgentEndpoint>> find(const ConversationId& conversation_id) override {
        return points_.said("the agent server's address is read", inner_.find(conversation_id));
    }
    Result<std::vector<ConversationId>> among(const std::vector<ConversationId>& conversation_ids) override {
        return points_.said("the agent servers are looked for", inner_.among(conversation_ids));
    }

  private:
    AgentEndpointRows& inner_;
    const Points& points_;
};

class PointReconcileRows final : public ReconcileRows {
  public:
    PointReconcileRows(ReconcileRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<void> request(const ReconcileRow& row) override {
        return points_.said("a catch-up is asked for", inner_.request(row));
    }
    Result<std::vector<DueReconcile>> due(const std::optional<DueReconcile>& after,
                                          std::size_t limit) override {
        return points_.said("the due catch-ups are read", inner_.due(after, limit));
    }
    Result<std::optional<ReconcileRow>> lock(const ConversationId& conversation_id) override {
        return points_.said("the catch-up is locked", inner_.lock(conversation_id));
    }
    Result<void> update(const ReconcileRow& row) override {
        return points_.said("the catch-up is written", inner_.update(row));
    }
    Result<void> remove(const ConversationId& conversation_id) override {
        return points_.said("the catch-up is removed", inner_.remove(conversation_id));
    }
    Result<std::size_t> not_begun(ReconcileReason why, std::size_t limit) override {
        return inner_.not_begun(why, limit);
    }

  private:
    ReconcileRows& inner_;
    const Points& points_;
};

class PointSummaryRows final : public SummaryRows {
  public:
    PointSummaryRows(SummaryRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<void> insert(const std::vector<SummaryRow>& rows) override {
        return points_.said("the summaries are inserted", inner_.insert(rows));
    }
    Result<std::optional<SummaryRow>> find(const TurnId& turn) override {
        return points_.said("the summary is read", inner_.find(turn));
    }
    Result<std::optional<SummaryRow>> lock(const TurnId& turn) override {
        return points_.said("the summary is locked", inner_.lock(turn));
    }
    Result<void> update(const SummaryRow& row) override {
        return points_.said("the summary is written", inner_.update(row));
    }
    Result<std::vector<TurnId>> owed(std::size_t limit) override { return inner_.owed(limit); }
    Result<std::string> keep_instruction(const TurnId& turn, const std::string& ask_id) override {
        return points_.said("the instruction is noted", inner_.keep_instruction(turn, ask_id));
    }
    Result<LlmSpending> lock_llm_spending(const std::string& model, const std::string& day) override {
        return points_.said("the spending is locked", inner_.lock_llm_spending(model, day));
    }
    Result<void> put_llm_spending(const std::string& model, const std::string& day,
                                  const LlmSpending& spending) override {
        return points_.said("the spending is written", inner_.put_llm_spending(model, day, spending));
    }

  private:
    SummaryRows& inner_;
    const Points& points_;
};

class PointDeliveryRows final : public DeliveryRows {
  public:
    PointDeliveryRows(DeliveryRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<std::vector<DeliveryId>> insert(const std::vector<DeliveryRow>& rows) override {
        return points_.said("the deliveries are inserted", inner_.insert(rows));
    }
    Result<std::optional<DeliveryRow>> lock(const DeliveryId& id) override {
        return points_.said("the delivery is locked", inner_.lock(id));
    }
    Result<void> update(const DeliveryRow& row) override {
        return points_.said("the delivery is written", inner_.update(row));
    }
    Result<std::vector<DeliveryRow>> lock_of(const TurnId& turn) override {
        return points_.said("the turn's deliveries are locked", inner_.lock_of(turn));
    }
    Result<bool> has_older_open(const DeliveryRow& row) override {
        return points_.said("older deliveries are looked for", inner_.has_older_open(row));
    }
    Result<std::vector<SiblingDelivery>> siblings(const DeliveryRow& row) override {
        return points_.said("the callback's other deliveries are read", inner_.siblings(row));
    }
    Result<bool> exists_to(const TurnId& turn, const std::string& sink, const std::string& target) override {
        return points_.said("a delivery to the same place is looked for",
                            inner_.exists_to(turn, sink, target));
    }
    Result<std::vector<DueDelivery>> due(std::size_t limit) override {
        return points_.said("the due deliveries are read", inner_.due(limit));
    }
    Result<std::vector<DueDelivery>> due_dedups(std::size_t limit) override {
        return points_.said("the due checks are read", inner_.due_dedups(limit));
    }

  private:
    DeliveryRows& inner_;
    const Points& points_;
};

class PointDeadLetterRows final : public DeadLetterRows {
  public:
    PointDeadLetterRows(DeadLetterRows& inner, const Points& points) : inner_(inner), points_(points) {}

    Result<void> insert(const std::vector<DeadLetterRow>& rows) override {
        return points_.said("the dead letters are inserted", inner_.insert(rows));
    }
    Result<std::optional<DeadLetterRow>> lock(std::int64_t id) override {
        return points_.said("the dead letter is locked", inner_.lock(id));
    }
    Result<void> mark_replayed(std::int64_t id) override {
        return points_.said("the dead letter is marked", inner_.mark_replayed(id));
    }

  private:
    DeadLetterRows& inner_;
    const Points& points_;
};

class PointTransaction final : public Transaction {
  public:
    PointTransaction(Transaction& inner, const OnPoint& on_point) : inner_(inner), points_(inner, on_point) {}

    Result<Instant> now() override { return points_.said("the time is read", inner_.now()); }
    std::int64_t connection_id() override { return inner_.connection_id(); }
    PartitionRows& partitions() override { return partitions_; }
    ConversationRows& conversations() override { return conversations_; }
    CallbackRows& callbacks() override { return callbacks_; }
    AgentEndpointRows& agent_endpoints() override { return agent_endpoints_; }
    ReconcileRows& reconciles() override { return reconciles_; }
    SummaryRows& summaries() override { return summaries_; }
    DeliveryRows& deliveries() override { return deliveries_; }
    RateLimitRows& rate_limits() override { return inner_.rate_limits(); }
    CredentialRows& credentials() override { return inner_.credentials(); }
    DeadLetterRows& dead_letters() override { return dead_letters_; }
    GapRows& gaps() override { return inner_.gaps(); }
    ImportedRows& imports() override { return inner_.imports(); }

  private:
    Transaction& inner_;
    const Points points_;
    PointPartitionRows partitions_{inner_.partitions(), points_};
    PointConversationRows conversations_{inner_.conversations(), points_};
    PointCallbackRows callbacks_{inner_.callbacks(), points_};
    PointAgentEndpointRows agent_endpoints_{inner_.agent_endpoints(), points_};
    PointReconcileRows reconciles_{inner_.reconciles(), points_};
    PointSummaryRows summaries_{inner_.summaries(), points_};
    PointDeliveryRows deliveries_{inner_.deliveries(), points_};
    PointDeadLetterRows dead_letters_{inner_.dead_letters(), points_};
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
