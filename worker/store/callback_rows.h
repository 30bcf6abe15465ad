// Rows of conversation_callbacks and callback_progress, and the requests that registered them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"
#include "worker/core/callback.h"

namespace epilogue {

struct CallbackRow {
    CallbackId id;
    ConversationId conversation_id;
    CallbackState state;
    CallbackOptions options;
    std::string processor_type;
    std::string processor_json;
    std::string idempotency_key;
    Instant adopted_at;
};

/// A row of conversation_callbacks that others wrote and that is not adopted yet.
struct UnadoptedCallback {
    CallbackId id;
    std::string conversation_id;  ///< as it was written
    std::string processor_type;
    std::string processor_json;
    std::optional<Instant> created_at;
    std::string told = {};  ///< CallbackOptions::told, of a row that was imported
};

/// Some rows of conversation_callbacks, in the order of their ids.
struct UnadoptedChunk {
    std::vector<CallbackId> ids;  ///< of those that are ACTIVE and not adopted yet
    CallbackId looked_until;      ///< the last row that was looked at
    bool is_last = false;         ///< there is none behind it
};

/// A request of the API that carried an Idempotency-Key.
struct IdempotentRequest {
    std::string key;
    std::string body_sha256;
    std::string registration;  ///< CallbackRow::idempotency_key of what it registered
};

/// Not thread-safe; valid as long as its transaction.
class CallbackRows {
  public:
    CallbackRows() = default;
    CallbackRows(const CallbackRows&) = delete;
    CallbackRows& operator=(const CallbackRows&) = delete;
    virtual ~CallbackRows() = default;

    /// The adopted ACTIVE callbacks of these conversations, dormant ones among them, locked, ascending by id.
    virtual Result<std::vector<CallbackRow>> lock_active(
        const std::vector<ConversationId>& conversation_ids) = 0;
    /// Which of these conversations have an adopted ACTIVE callback, as it was committed; locks nothing.
    virtual Result<std::vector<ConversationId>> watched_among(
        const std::vector<ConversationId>& conversation_ids) = 0;
    /// One callback as it stands.
    virtual Result<std::optional<CallbackRow>> read(CallbackId id) = 0;
    /// One callback, locked.
    virtual Result<std::optional<CallbackRow>> lock(CallbackId id) = 0;
    /// Writes phase, reason and last turn, and upstream's status.
    virtual Result<void> update_state(CallbackId id, const CallbackState& state) = 0;
    /// Looks at the next `limit` rows behind `after` for those that are not adopted yet.
    virtual Result<UnadoptedChunk> unadopted(CallbackId after, std::size_t limit) = 0;
    /// One of them as it stands; nullopt when it was adopted meanwhile.
    virtual Result<std::optional<UnadoptedCallback>> read_unadopted(CallbackId id) = 0;
    /// The same, locked.
    virtual Result<std::optional<UnadoptedCallback>> lock_unadopted(CallbackId id) = 0;
    /// Inserts the progress of a row that is there already.
    virtual Result<void> insert_progress(const CallbackRow& row) = 0;
    /// Inserts both rows; returns the new id.
    virtual Result<CallbackId> insert(const CallbackRow& row) = 0;
    virtual Result<std::optional<CallbackId>> with_idempotency_key(const std::string& key) = 0;
    /// Keeps `request` under its key for a day, unless another is kept there; returns the one that is. Waits
    /// for a transaction that is saving the same key.
    virtual Result<IdempotentRequest> save_idempotency_key(const IdempotentRequest& request) = 0;
    /// Lets the request that is kept under `key` stand for another registration.
    virtual Result<void> point_idempotency_key(const std::string& key, const std::string& registration) = 0;
};

}  // namespace epilogue
