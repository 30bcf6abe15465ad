// Rows of catch_ups: conversations whose agent server is to be asked what the topic did not tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"
#include "worker/core/reconcile_pace.h"

namespace epilogue {

/// A conversation whose agent server is to be asked.
struct ReconcileRow {
    ConversationId conversation_id;
    ReconcileReason why = ReconcileReason::registered;
    Instant asked_at;                         ///< since then the question stands; only read
    Instant next_try_at;                      ///< it may be taken from then on: it waits, or it is leased
    int attempts = 0;                         ///< begun
    std::string owner;                        ///< who works at it; empty: it waits
    int crashes = 0;                          ///< of workers that worked at it; only read
    std::optional<Hindrance> hindrance = {};  ///< of the last try
};

/// A row that may be taken.
struct DueReconcile {
    ConversationId conversation_id;
    Instant next_try_at;
    std::optional<Hindrance> hindrance = {};
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
    /// The rows that may be taken, longest due first; only those behind `after`, where it is given.
    virtual Result<std::vector<DueReconcile>> due(const std::optional<DueReconcile>& after,
                                                  std::size_t limit) = 0;
    /// Locks the row; nullopt when nothing is asked (any more).
    virtual Result<std::optional<ReconcileRow>> lock(const ConversationId& conversation_id) = 0;
    virtual Result<void> update(const ReconcileRow& row) = 0;
    virtual Result<void> remove(const ConversationId& conversation_id) = 0;
    /// How many requests for that reason were not begun yet; counts no further than `limit`.
    virtual Result<std::size_t> not_begun(ReconcileReason why, std::size_t limit) = 0;
};

}  // namespace epilogue
