// One session of a process with the database of the world, and the rows as its transaction sees them.
#pragma once

#include <optional>
#include <stdexcept>

#include "tests/sim/database.h"
#include "tests/sim/process.h"
#include "tests/sim/rows.h"
#include "worker/store/commit_protocol.h"

namespace epilogue::sim {

/// The rows: what is committed, under what this transaction has changed.
class SimTransaction final : public Transaction {
  public:
    SimTransaction(Database& database, Process& process, std::int64_t session)
        : database_(database), process_(process), session_(session) {}

    void begin();
    bool is_open() const { return open_ && !open_->ended; }
    bool is_lost() const { return lost_; }
    std::shared_ptr<OpenTransaction> open() const { return open_; }
    void drop();
    /// It is no longer this session's to end.
    void forget() { open_.reset(); }

    Result<Instant> now() override { return database_.now(); }
    std::int64_t connection_id() override { return session_; }

    PartitionRows& partitions() override { return partitions_; }
    ConversationRows& conversations() override { return conversations_; }
    CallbackRows& callbacks() override { return callbacks_; }
    AgentEndpointRows& agent_endpoints() override { return agent_endpoints_; }
    ReconcileRows& reconciles() override { return reconciles_; }
    SummaryRows& summaries() override { return summaries_; }
    DeliveryRows& deliveries() override { return deliveries_; }
    RateLimitRows& rate_limits() override { return rate_limits_; }
    CredentialRows& credentials() override { return credentials_; }
    DeadLetterRows& dead_letters() override { return dead_letters_; }
    GapRows& gaps() override { return gaps_; }
    /// Nothing is imported in this world.
    ImportedRows& imports() override { throw std::logic_error("no rows of another database"); }

    /// Every statement starts here: others may run, and it may fail.
    Result<void> statement();
    Result<void> lock(char table, std::string_view row, bool to_share = false);
    /// Whether another transaction has it.
    bool is_locked(char table, std::string_view row) const;
    Changes& changes() { return open_->changes; }
    Database& database() { return database_; }
    Process& process() { return process_; }

  private:
    Database& database_;
    Process& process_;
    const std::int64_t session_;
    std::shared_ptr<OpenTransaction> open_;
    bool lost_ = false;  ///< the connection is gone
    SimPartitionRows partitions_{*this};
    SimConversationRows conversations_{*this};
    SimCallbackRows callbacks_{*this};
    SimAgentEndpointRows agent_endpoints_{*this};
    SimReconcileRows reconciles_{*this};
    SimSummaryRows summaries_{*this};
    SimDeliveryRows deliveries_{*this};
    SimRateLimitRows rate_limits_{*this};
    SimCredentialRows credentials_{*this};
    SimDeadLetterRows dead_letters_{*this};
    SimGapRows gaps_{*this};
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
