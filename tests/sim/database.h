// The database of the world: committed rows, row locks, sessions, and a clock of its own. What a transaction
// sees and leaves behind is as with InnoDB at READ COMMITTED.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "tests/oracle/oracle.h"
#include "tests/sim/schedule.h"
#include "worker/core/conversation.h"
#include "worker/core/rate_window.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/credential_rows.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/gap_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue::sim {

using testing::Oracle;

struct StoredRow {
    Conversation conversation;
    int partition = -1;
    bool guessed = false;  ///< the partition
    bool suspended = false;
    std::optional<Instant> resumed_at;
};

struct StoredWindow {
    RateWindow window;
    Instant open_at;
};

/// What one transaction changed, not yet committed.
struct Changes {
    std::vector<std::pair<int, PartitionRow>> partitions;
    std::map<ConversationId, StoredRow> conversations;
    std::map<CallbackId, CallbackRow> callbacks;
    std::map<ConversationId, AgentEndpoint> endpoints;
    std::map<ConversationId, std::optional<ReconcileRow>> catch_ups;  ///< nullopt: removed
    std::map<std::int64_t, GapRow> gaps;
    std::vector<SummaryRow> summaries;                                        ///< inserted
    std::map<TurnId, SummaryRow> put_summaries;                               ///< rows that exist
    std::map<TurnId, std::string> instructions;                               ///< their ids
    std::map<std::pair<std::string, std::string>, LlmSpending> llm_spending;  ///< by model and day
    std::map<DeliveryId, DeliveryRow> deliveries;                             ///< rows that exist
    std::vector<std::pair<std::int64_t, DeliveryRow>> inserted;               ///< by ordinal
    std::vector<DeadLetterRow> dead_letters;
    std::map<std::string, StoredWindow> windows;
    std::map<std::string, CredentialRow> credentials;

    bool empty() const;
    void clear() { *this = {}; }
};

using LockKey = std::uint64_t;
LockKey lock_key(char table, std::string_view row);

/// A transaction that is open on some session, or a COMMIT that is still on its way to the server.
struct OpenTransaction {
    std::int64_t session = 0;
    std::vector<LockKey> locks;
    std::vector<LockKey> shared;  ///< those that others may share
    Changes changes;
    Micros silent_since{0};
    bool ended = false;  ///< killed, dropped, or committed: its locks are free
};

/// What the conversation looked like to a registration when that was committed.
struct RegistrationSeen {
    TurnKey last_turn;  ///< of the conversation's last counted turn; empty: none
    bool between_turns = false;
    bool untold = false;  ///< no turn of it was known
};

class Database {
  public:
    Database(Schedule& schedule, Oracle& oracle) : schedule_(schedule), oracle_(oracle) {}

    Instant now() const { return start + schedule_.now(); }
    static constexpr Instant start{std::chrono::hours{24 * 20400}};
    std::int64_t new_session() { return next_session_++; }

    /// The transaction that holds the lock, unless it is `own`; to share it, unless it is shared.
    OpenTransaction* holder(LockKey key, const OpenTransaction* own, bool to_share = false);
    void open(const std::shared_ptr<OpenTransaction>& transaction);
    /// Ends the session's open transactions without committing them.
    void end_session(std::int64_t session);
    /// Commits.
    void apply(OpenTransaction& transaction);

    void go_down();
    void come_back() { down_ = false; }
    bool is_down() const { return down_; }

    // Committed rows.
    std::map<int, PartitionRow> partitions;
    std::map<ConversationId, StoredRow> conversations;
    std::map<CallbackId, CallbackRow> callbacks;
    std::map<CallbackId, UnadoptedCallback> foreign;  ///< rows of others, not adopted yet
    std::map<std::string, CallbackId> idempotency_keys;
    std::map<ConversationId, AgentEndpoint> endpoints;  ///< by conversation
    std::map<ConversationId, ReconcileRow> catch_ups;   ///< by conversation
    std::map<std::int64_t, GapRow> gaps;
    std::map<TurnId, SummaryRow> summaries;
    std::set<TurnId> owed_summaries;
    std::map<TurnId, std::string> instructions;
    std::map<std::pair<std::string, std::string>, LlmSpending> llm_spending;
    std::map<std::int64_t, DeliveryRow> deliveries;  ///< by ordinal
    std::map<std::string, StoredWindow> windows;
    std::map<std::string, CredentialRow> credentials;

    // As the indexes of deliveries.
    std::set<std::int64_t> timed;                              ///< open, and due at some time
    std::set<std::pair<Instant, std::int64_t>> due_for_dedup;  ///< to be checked for duplicates, by time
    std::map<std::string, std::set<std::int64_t>> lines;       ///< by rate window
    std::map<CallbackId, std::set<std::int64_t>> open_of;      ///< open ones of a callback
    /// Inserts or replaces a row.
    void put_delivery(std::int64_t ordinal, DeliveryRow row);
    /// Whether it is the oldest open one of its callback.
    bool is_first(std::int64_t ordinal, const DeliveryRow& row) const;
    /// Whether what waits in that queue waits for a platform that is down.
    bool waits_for_platform(const std::string& queue) const;
    std::map<DeliveryId, std::int64_t> ordinals;
    std::set<std::pair<CallbackId, TurnKey>> delivery_turns;  ///< the unique key
    std::set<std::pair<int, std::int64_t>> dead_letters;
    std::map<CallbackId, RegistrationSeen> registrations;
    std::set<ConversationId> caught_up;  ///< conversations of which a catch-up was the first to tell

    std::int64_t statements = 0;  ///< so far, to see whether any process is busy
    std::int64_t next_callback = 1;
    std::int64_t next_ordinal = 1;
    std::int64_t next_gap = 1;

  private:
    void audit(const Changes& changes);
    void note_first_told(const Changes& changes);

    Schedule& schedule_;
    Oracle& oracle_;
    std::vector<std::shared_ptr<OpenTransaction>> open_;
    std::int64_t next_session_ = 1;
    bool down_ = false;
};

}  // namespace epilogue::sim
