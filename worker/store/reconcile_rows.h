// Rows of catch_ups: conversations whose agent server is to be asked what the topic did not tell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"

namespace epilogue {

/// Why an agent server is asked for what the topic did not tell.
enum class ReconcileReason {
    registered,  ///< a callback came, and the topic may have lost what was before it
    inactivity,  ///< an open turn is inactive, and would be given up
    gap,         ///< records were gone before they were read; its own may be among them
};
/// As the column catch_ups.why and metrics spell it.
std::string_view name_of(ReconcileReason reason);
std::optional<ReconcileReason> reconcile_reason_named(std::string_view name);

/// A conversation whose agent server is to be asked.
struct ReconcileRow {
    ConversationId conversation_id;
    ReconcileReason why = ReconcileReason::registered;
    Instant next_try_at;  ///< it may be taken from then on: it waits, or it is leased
    int attempts = 0;     ///< begun
    std::string owner;    ///< who began the last one
    int crashes = 0;      ///< of workers that worked at it; only read
};

/// Not thread-safe; valid as long as its transaction.
class ReconcileRows {
  public:
    ReconcileRows() = default;
    ReconcileRows(const ReconcileRows&) = delete;
    ReconcileRows& operator=(const ReconcileRows&) = delete;
    virtual ~ReconcileRows() = default;

    /// Takes the place of what was asked about the conversation before; who worked at that has lost it. A
    /// question because of a gap stays one, since its answer tells everything.
    virtual Result<void> request(const ReconcileRow& row) = 0;
    /// Conversations whose row may be taken, longest due first.
    virtual Result<std::vector<ConversationId>> due(std::size_t limit) = 0;
    /// Locks the row; nullopt when nothing is asked (any more).
    virtual Result<std::optional<ReconcileRow>> lock(const ConversationId& conversation_id) = 0;
    virtual Result<void> update(const ReconcileRow& row) = 0;
    virtual Result<void> remove(const ConversationId& conversation_id) = 0;
    /// How many requests for that reason were not begun yet; counts no further than `limit`.
    virtual Result<std::size_t> not_begun(ReconcileReason why, std::size_t limit) = 0;
};

}  // namespace epilogue
