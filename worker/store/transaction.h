// One open transaction: the rows of each table group through a port of their own (*_rows.h). What a
// transaction does is decided by its callers (apply/, deliver/, agents/); an implementation only reads, locks
// and writes rows.
#pragma once

#include <cstdint>

#include "base/instant.h"
#include "base/result.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {

class AgentEndpointRows;
class CallbackRows;
class ConversationRows;
class CredentialRows;
class DeadLetterRows;
class DeliveryRows;
class GapRows;
class ImportedRows;
class PartitionRows;
class RateLimitRows;
class ReconcileRows;
class SummaryRows;

/// Not thread-safe; valid only inside Store::transact's work.
class Transaction {
  public:
    Transaction() = default;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    virtual ~Transaction() = default;

    /// The database's clock. All leases and due times are judged by it.
    virtual Result<Instant> now() = 0;
    /// Identifies the session, so that a successor can end it.
    virtual std::int64_t connection_id() = 0;

    // The rows of each table group.
    virtual PartitionRows& partitions() = 0;
    virtual ConversationRows& conversations() = 0;
    virtual CallbackRows& callbacks() = 0;
    virtual AgentEndpointRows& agent_endpoints() = 0;
    virtual ReconcileRows& reconciles() = 0;
    virtual SummaryRows& summaries() = 0;
    virtual DeliveryRows& deliveries() = 0;
    virtual RateLimitRows& rate_limits() = 0;
    virtual CredentialRows& credentials() = 0;
    virtual DeadLetterRows& dead_letters() = 0;
    virtual GapRows& gaps() = 0;
    virtual ImportedRows& imports() = 0;
};

}  // namespace epilogue
