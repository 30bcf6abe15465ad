// Rows of deliveries: the ledger of posts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/named.h"
#include "base/result.h"
#include "schemas/verdict.h"
#include "worker/core/delivery.h"

namespace epilogue {

struct TurnId;

struct DeliveryRow {
    DeliveryId id;
    CallbackId callback_id;
    TurnKey turn_key;
    ConversationId conversation_id;
    std::string sink;
    std::string target;
    Verdict verdict = Verdict::finished;
    DeliveryProgress progress;
    std::string body;             ///< empty until it is rendered, then frozen
    bool body_is_stored = false;  ///< it is in the table already: update() does not write it again
    std::string owner;
    Generation generation;
    std::optional<Instant> lease_until;
    std::optional<Instant> next_attempt_at;  ///< nullopt: it waits in the queue of its rate window
    std::optional<Instant> intent_at;        ///< of the first attempt
    std::optional<Instant> sent_at;
    std::optional<Instant> dedup_due_at;  ///< when its place is looked at for duplicates
    Instant created_at;
    std::optional<int> source_partition;
    std::optional<std::int64_t> source_offset;
    std::optional<Instant>
        event_at;             ///< the partition's clock when the turn was counted; nullopt: it was told late
    std::string credential;   ///< whose limits it counts against (Quota); empty until its first claim
    std::string rate_window;  ///< that its post needs
    int crashes = 0;          ///< of workers that worked at it, since work at it last ended otherwise
};

/// What a sweep reads of a delivery: the rest is read under its lock.
struct DueDelivery {
    DeliveryId id;
    std::string sink;
};

/// Another delivery of the same callback.
struct SiblingDelivery {
    DeliveryId id;
    bool is_newer = false;
    std::optional<Instant> held_until = {};  ///< a sender's lease ends then; nullopt, or past: none has one
};

/// Not thread-safe; valid as long as its transaction.
class DeliveryRows {
  public:
    DeliveryRows() = default;
    DeliveryRows(const DeliveryRows&) = delete;
    DeliveryRows& operator=(const DeliveryRows&) = delete;
    virtual ~DeliveryRows() = default;

    /// Existing rows (same callback and turn) are kept as they are; returns the ids of those that are new. A
    /// row is due since its next_attempt_at, or now when it has none.
    virtual Result<std::vector<DeliveryId>> insert(const std::vector<DeliveryRow>& rows) = 0;
    virtual Result<std::optional<DeliveryRow>> lock(const DeliveryId& id) = 0;
    /// Writes what may change in a row; the body only when it is new.
    virtual Result<void> update(const DeliveryRow& row) = 0;
    /// All deliveries of a turn, locked, in the order in which they became owed.
    virtual Result<std::vector<DeliveryRow>> lock_of(const TurnId& turn) = 0;
    /// True when an older delivery of the callback is neither final nor parked.
    virtual Result<bool> has_older_open(const DeliveryRow& row) = 0;
    /// The other deliveries of its callback that are newer, or that a sender may be posting, oldest first.
    virtual Result<std::vector<SiblingDelivery>> siblings(const DeliveryRow& row) = 0;
    /// True when the turn already has a delivery to that place.
    virtual Result<bool> exists_to(const TurnId& turn, const std::string& sink,
                                   const std::string& target) = 0;
    /// Due deliveries that are not leased and that are the oldest open one of their callback, oldest first.
    virtual Result<std::vector<DueDelivery>> due(std::size_t limit) = 0;
    /// SENT deliveries whose check for duplicates is due.
    virtual Result<std::vector<DueDelivery>> due_dedups(std::size_t limit) = 0;
};

}  // namespace epilogue
