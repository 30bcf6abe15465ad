// The port to the database: typed rows inside one transaction. What a transaction does is decided by its
// callers (batch.h, outbox.h, registration.h); an implementation only reads, locks and writes rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/named.h"
#include "base/record.h"
#include "base/result.h"
#include "worker/core/callback.h"
#include "worker/core/conversation.h"
#include "worker/core/delivery.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {

struct PartitionKey {
    std::string group;
    std::string topic;
    int partition = 0;
    auto operator<=>(const PartitionKey&) const = default;
};

/// The last time a position moved other than by reading on.
struct Move {
    Instant at;
    NextOffset from;
    std::string why;
};

/// Where a partition stands: moves in the same transaction as everything its records changed.
struct PartitionRow {
    std::string group;  ///< that made the row
    std::string cluster_id;
    NextOffset next_offset;
    std::optional<RecordPrint> last;  ///< record applied
    std::optional<Instant> clock;     ///< the partition's clock (contract §4a)
    std::optional<Instant> caught_up_at;
    std::optional<NextOffset> caught_up_offset;  ///< the log's end then
    std::optional<Instant> touched_at;           ///< database time of the last transaction of an owner
    std::optional<Instant> returned_at;          ///< when it came back from an outage of more than a minute
    std::string owner;
    std::int64_t connection_id = 0;
    Generation generation;
    std::int64_t sequence =
        0;  ///< grows with every transaction of the owner: tells a commit that was lost from one that was not
    std::optional<RecordPrint> anchor;    ///< a record applied that is known to be of this log
    std::optional<int> first_partitions;  ///< the topic's count when it was first seen
    std::optional<Move> moved;
};

struct StoredConversation {
    std::string id;
    Conversation conversation;
    bool held = false;                 ///< its silence is due, and kept back by the storm brake
    std::optional<Instant> let_go_at;  ///< database time at which an event of its own ended that
};

/// How many turns are silent at the same time, in the whole pool.
struct SilenceCensus {
    std::int64_t near = 0;  ///< held, due about now, or let go lately by events of their own
    std::int64_t open = 0;  ///< open turns whose silence is watched
};

struct CallbackRow {
    std::int64_t id = 0;
    std::string conversation_id;
    CallbackState state;
    CallbackOptions options;
    std::string processor_type;
    std::string processor_json;
    std::string idempotency_key;
    Instant adopted_at;
};

/// A row of conversation_callbacks that others wrote and nobody adopted yet.
struct ForeignCallback {
    std::int64_t id = 0;
    std::string conversation_id;  ///< as it was written
    std::string processor_type;
    std::string processor_json;
    std::optional<Instant> created_at;
};

/// The agent server of one conversation, where it has one of its own.
struct AgentEndpoint {
    std::string conversation_id;
    std::string url;
    std::string sealed_key;  ///< bound to the conversation's id (base/sealed.h); empty: it takes none
};

/// Why an agent server is asked for what the topic did not tell.
enum class CatchUpWhy {
    registered,  ///< a callback came, and the topic may have lost what was before it
    silence,     ///< an open turn is silent, and would be given up
};
std::string_view name_of(CatchUpWhy why);

/// A conversation whose agent server is to be asked.
struct CatchUpRow {
    std::string conversation_id;
    CatchUpWhy why = CatchUpWhy::registered;
    Instant next_try_at;  ///< until then nobody takes it: it waits, or it is leased
    int attempts = 0;     ///< begun
    std::string owner;    ///< who began the last one
};

/// A request of the API that carried an Idempotency-Key.
struct KeptRequest {
    std::string key;
    std::string body_sha256;
    std::string registration;  ///< CallbackRow::idempotency_key of what it registered
};

/// One turn of a conversation.
struct TurnId {
    std::string conversation_id;
    std::string turn_key;
    auto operator<=>(const TurnId&) const = default;
};

struct SummaryRow {
    std::string conversation_id;
    std::string turn_key;
    std::string source;
    std::string body;   ///< schemas/summary.h
    bool owed = false;  ///< not frozen: made from the log alone, until the agent server has been asked
    // Of one that is owed.
    std::string status_event = {};  ///< id of the status that ended the turn
    std::optional<Instant> ended_at =
        {};  ///< the partition's clock then; nullopt: unknown, or registered late
    std::string owner = {};
    Generation generation = {};
    std::optional<Instant> lease_until = {};
    Instant created_at = {};  ///< set by the insertion
};

struct DeliveryRow {
    std::string id;
    std::int64_t callback_id = 0;
    std::string turn_key;
    std::string conversation_id;
    std::string sink;
    std::string target;
    Verdict verdict = Verdict::finished;
    DeliveryProgress progress;
    std::string body;  ///< empty until it is rendered, then frozen
    std::string owner;
    Generation generation;
    std::optional<Instant> lease_until;
    std::optional<Instant> next_attempt_at;  ///< nullopt: it stands in line for its rate window
    std::optional<Instant> intent_at;        ///< of the first attempt
    std::optional<Instant> sent_at;
    std::optional<Instant> heal_due_at;
    Instant created_at;
    std::optional<int> source_partition;
    std::optional<std::int64_t> source_offset;
    std::string credential;   ///< whose limits it counts against (sinks/quota.h); empty until its first claim
    std::string rate_window;  ///< that its post needs
};

struct DeadLetterRow {
    std::string cluster_id;
    std::string topic;
    int partition = 0;
    Offset offset;
    std::optional<std::string> key;
    std::string reason;
    std::int64_t length = 0;
    std::string sha256;
    std::string value;  ///< the first 64 KiB
};

/// One open transaction. Not thread-safe; valid only inside Store::transact's work.
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

    /// Locks the partition's row, the one of the newest generation, whichever group made it; nullopt when the
    /// partition was never claimed.
    virtual Result<std::optional<PartitionRow>> lock_partition(const PartitionKey& key) = 0;
    /// The row as it was last committed, without waiting for a lock.
    virtual Result<std::optional<PartitionRow>> peek_partition(const PartitionKey& key) = 0;
    /// Writes the row of the key's own group.
    virtual Result<void> put_partition(const PartitionKey& key, const PartitionRow& row) = 0;
    /// How many partitions the topic had when the first of them was claimed; nullopt when that is not known.
    virtual Result<std::optional<int>> first_partitions(const std::string& topic) = 0;
    /// How many partitions the topic has, as far as they were claimed; 0: none was.
    virtual Result<int> known_partitions(const std::string& topic) = 0;

    /// Creates the rows that are missing, locks all of them and reads them, in the order of `ids`
    /// (ascending, unique).
    virtual Result<std::vector<StoredConversation>> lock_conversations(const std::vector<std::string>& ids,
                                                                       int partition) = 0;
    /// The same for one conversation, from outside its partition: which partition it is in stays as it is.
    virtual Result<Conversation> lock_conversation(const std::string& id) = 0;
    /// Which partition a conversation is in; nullopt when no record of it was read.
    virtual Result<std::optional<int>> partition_of(const std::string& conversation_id) = 0;
    virtual Result<void> put_conversations(const std::vector<StoredConversation>& rows) = 0;
    /// Ids of conversations of the partition whose timer is due at or before `clock` and not held, ascending
    /// by due time.
    virtual Result<std::vector<std::string>> due_conversations(int partition, Instant clock,
                                                               std::size_t limit) = 0;
    /// Ids of held conversations of the partition, longest due first.
    virtual Result<std::vector<std::string>> held_conversations(int partition, std::size_t limit) = 0;
    /// Counts turns whose silence is due in this range; those let go since then count as well.
    virtual Result<SilenceCensus> silence_census(Instant from, Instant to, Instant let_go_since) = 0;
    /// The earliest due time of the partition, held ones left out.
    virtual Result<std::optional<Instant>> next_due(int partition) = 0;

    /// The adopted ACTIVE callbacks of these conversations, dormant ones among them, locked, ascending by id.
    virtual Result<std::vector<CallbackRow>> lock_active_callbacks(
        const std::vector<std::string>& conversation_ids) = 0;
    /// Which of these conversations have an adopted ACTIVE callback, as it was committed; locks nothing.
    virtual Result<std::vector<std::string>> watched_among(
        const std::vector<std::string>& conversation_ids) = 0;
    /// One callback as it stands.
    virtual Result<std::optional<CallbackRow>> peek_callback(std::int64_t id) = 0;
    /// One callback, locked.
    virtual Result<std::optional<CallbackRow>> lock_callback(std::int64_t id) = 0;
    /// Writes phase, reason and last turn, and upstream's status.
    virtual Result<void> put_callback_state(std::int64_t id, const CallbackState& state) = 0;
    /// Ids of ACTIVE rows that nobody adopted yet, ascending.
    virtual Result<std::vector<std::int64_t>> foreign_callbacks(std::size_t limit) = 0;
    /// One of them as it stands; nullopt when it was adopted meanwhile.
    virtual Result<std::optional<ForeignCallback>> peek_foreign_callback(std::int64_t id) = 0;
    /// The same, locked.
    virtual Result<std::optional<ForeignCallback>> lock_foreign_callback(std::int64_t id) = 0;
    /// Inserts the progress of a row that is there already.
    virtual Result<void> insert_callback_progress(const CallbackRow& row) = 0;
    /// Inserts both rows; returns the new id.
    virtual Result<std::int64_t> insert_callback(const CallbackRow& row) = 0;
    virtual Result<std::optional<std::int64_t>> callback_with_idempotency_key(const std::string& key) = 0;
    /// Keeps `request` under its key for a day, unless another is kept there; returns the one that is. Waits
    /// for a transaction that is keeping the same key.
    virtual Result<KeptRequest> keep_request(const KeptRequest& request) = 0;

    /// Takes the place of the conversation's endpoint, if it has one.
    virtual Result<void> put_agent_endpoint(const AgentEndpoint& endpoint) = 0;
    virtual Result<std::optional<AgentEndpoint>> agent_endpoint(const std::string& conversation_id) = 0;
    /// Those of the conversations that have an endpoint.
    virtual Result<std::vector<std::string>> with_agent_server(
        const std::vector<std::string>& conversation_ids) = 0;

    /// Takes the place of what was asked about the conversation before; who worked at that has lost it.
    virtual Result<void> ask_catch_up(const CatchUpRow& row) = 0;
    /// Conversations whose row may be taken, longest due first.
    virtual Result<std::vector<std::string>> due_catch_ups(std::size_t limit) = 0;
    /// Locks the row; nullopt when nothing is asked (any more).
    virtual Result<std::optional<CatchUpRow>> lock_catch_up(const std::string& conversation_id) = 0;
    virtual Result<void> put_catch_up(const CatchUpRow& row) = 0;
    virtual Result<void> remove_catch_up(const std::string& conversation_id) = 0;

    /// Existing rows are kept as they are.
    virtual Result<void> insert_summaries(const std::vector<SummaryRow>& rows) = 0;
    virtual Result<std::optional<SummaryRow>> summary_of(const std::string& conversation_id,
                                                         const std::string& turn_key) = 0;
    /// The same, locked.
    virtual Result<std::optional<SummaryRow>> lock_summary(const TurnId& turn) = 0;
    /// Writes source, body, whether it is owed, owner, generation and lease.
    virtual Result<void> put_summary(const SummaryRow& row) = 0;
    /// Turns whose summary is owed and that nobody asks for, longest waiting first.
    virtual Result<std::vector<TurnId>> owed_summaries(std::size_t limit) = 0;

    /// Existing rows (same callback and turn) are kept as they are; returns the ids of those that are new. A
    /// row is due since its next_attempt_at, or now when it has none.
    virtual Result<std::vector<std::string>> insert_deliveries(const std::vector<DeliveryRow>& rows) = 0;
    virtual Result<std::optional<DeliveryRow>> lock_delivery(const std::string& id) = 0;
    virtual Result<void> put_delivery(const DeliveryRow& row) = 0;
    /// All deliveries of a turn, locked, in the order in which they became owed.
    virtual Result<std::vector<DeliveryRow>> lock_deliveries_of(const TurnId& turn) = 0;
    /// True when an older delivery of the callback is neither final nor parked.
    virtual Result<bool> has_older_open_delivery(const DeliveryRow& row) = 0;
    /// True when the turn already has a delivery to that place.
    virtual Result<bool> has_delivery_to(const std::string& conversation_id, const std::string& turn_key,
                                         const std::string& sink, const std::string& target) = 0;
    /// Due deliveries that nobody works at and that are the oldest open one of their callback, oldest first.
    virtual Result<std::vector<DeliveryRow>> due_deliveries(std::size_t limit) = 0;
    /// SENT deliveries whose check for twins is due.
    virtual Result<std::vector<DeliveryRow>> due_heals(std::size_t limit) = 0;

    /// Windows, lines and credentials.
    virtual PaceRows& pace() = 0;

    /// Existing rows (same record) are kept as they are.
    virtual Result<void> insert_dead_letters(const std::vector<DeadLetterRow>& rows) = 0;
    virtual Result<std::optional<DeadLetterRow>> lock_dead_letter(std::int64_t id) = 0;
    virtual Result<void> mark_replayed(std::int64_t dead_letter_id) = 0;
};

/// This installation: the name space of delivery ids, and when it began.
struct Installation {
    std::string id;  ///< a UUID
    Instant created_at;
};

/// Thread-safe.
class Store {
  public:
    using Work = std::function<Result<void>(Transaction&)>;
    using Check = std::function<Result<bool>(Transaction&)>;

    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// Runs `work` in one transaction and commits. Deadlocks, lock waits and lost connections run the whole
    /// of it again, at most five times. When COMMIT is not answered with success, `is_done` is asked on
    /// another session (after the first has been ended) whether the work is in the database; it must lock a
    /// row that `work` has locked, so that it waits for a COMMIT under way. Errors: as the database's, see
    /// base/io/mysql.h; nothing is stored then, unless the database went away between COMMIT and question:
    /// the text says so, and the caller finds out by running the same work again.
    virtual Result<void> transact(const Work& work, const Check& is_done) = 0;
    /// The same for work that changes nothing that matters when it is done twice: an answer to COMMIT that
    /// was lost is not asked about, the work runs again.
    Result<void> transact_idempotent(const Work& work) {
        return transact(work, [](Transaction&) -> Result<bool> { return false; });
    }
    /// Reads only: runs `work` and rolls back.
    virtual Result<void> read(const Work& work) = 0;
    /// Ends another session, so that its open transaction lets go of its locks. Unknown ids are fine.
    virtual Result<void> end_session(std::int64_t connection_id) = 0;
    /// What `migrate` wrote once.
    virtual Result<Installation> installation() = 0;
};

}  // namespace epilogue
