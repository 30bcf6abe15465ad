// Transaction over one MySQL session: SQL that MySQL 8 and MariaDB 10.11 both take.
#pragma once

#include <optional>

#include "base/io/mysql.h"
#include "worker/mysql/agent_endpoint_rows.h"
#include "worker/mysql/callback_rows.h"
#include "worker/mysql/conversation_rows.h"
#include "worker/mysql/credential_rows.h"
#include "worker/mysql/dead_letter_rows.h"
#include "worker/mysql/delivery_rows.h"
#include "worker/mysql/gap_rows.h"
#include "worker/mysql/imported_rows.h"
#include "worker/mysql/partition_rows.h"
#include "worker/mysql/rate_limit_rows.h"
#include "worker/mysql/reconcile_rows.h"
#include "worker/mysql/summary_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

class MysqlTransaction final : public Transaction {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlTransaction(MysqlSession& session) : session_(session) {}

    Result<Instant> now() override;
    std::int64_t connection_id() override { return session_.connection_id(); }
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
    ImportedRows& imports() override { return imports_; }

  private:
    MysqlSession& session_;
    /// When the newest delivery was locked: a sender asks for the time next, and this spares it the round
    /// trip. The statement may have waited for the row after it read the time, so leases may end earlier for
    /// it, never later.
    std::optional<Instant> now_;
    MysqlPartitionRows partitions_{session_};
    MysqlConversationRows conversations_{session_};
    MysqlCallbackRows callbacks_{session_};
    MysqlAgentEndpointRows agent_endpoints_{session_};
    MysqlReconcileRows reconciles_{session_};
    MysqlSummaryRows summaries_{session_};
    MysqlDeliveryRows deliveries_{session_, now_};
    MysqlRateLimitRows rate_limits_{session_};
    MysqlCredentialRows credentials_{session_};
    MysqlDeadLetterRows dead_letters_{session_};
    MysqlGapRows gaps_{session_};
    MysqlImportedRows imports_{session_};
};

}  // namespace epilogue
