// Rows of log_gaps: records of a partition that were gone before they were read, and how far the callbacks
// whose conversation may lie among them have been asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/named.h"
#include "base/result.h"

namespace epilogue {

struct GapRow {
    std::int64_t id = 0;
    std::string topic;
    int partition = 0;
    NextOffset from;               ///< the first that was never read
    std::optional<NextOffset> to;  ///< behind the last one; none: it is another log, whose end is not known
    std::string why;               ///< for people
    Instant noticed_at;            ///< by the database's clock
    CallbackId asked_until;        ///< callbacks up to this one have been looked at
    CallbackId last_callback;      ///< the newest one when the gap was noticed
    std::int64_t asked = 0;        ///< conversations whose agent server was put on the list
    std::int64_t without_server = 0;  ///< conversations that have none to ask
    std::optional<std::int64_t>
        remaining;  ///< callbacks that are still to be looked at; none: not counted yet
    bool is_done = false;
};

/// Some callbacks that may be concerned by a gap, in the order of their ids.
struct GapChunk {
    std::vector<ConversationId> conversations;  ///< of one callback each; one may come twice
    CallbackId looked_until;                    ///< the last that was looked at
};

/// Not thread-safe; valid as long as its transaction.
class GapRows {
  public:
    GapRows() = default;
    GapRows(const GapRows&) = delete;
    GapRows& operator=(const GapRows&) = delete;
    virtual ~GapRows() = default;

    /// Adds a gap that was noticed now. The callbacks that are there now are to be asked about.
    virtual Result<void> insert(const GapRow& gap) = 0;
    /// The oldest gap that is not done, locked; nullopt when there is none, or another transaction has it.
    virtual Result<std::optional<GapRow>> lock_next() = 0;
    /// The callbacks behind gap.asked_until that wait for a turn, and whose conversation is in the gap's
    /// partition or in none yet: at most `limit`.
    virtual Result<GapChunk> next_chunk(const GapRow& gap, std::size_t limit) = 0;
    /// How many of them there are. Reads them all.
    virtual Result<std::int64_t> count_remaining(const GapRow& gap) = 0;
    /// Writes how far it is.
    virtual Result<void> update(const GapRow& gap) = 0;
};

}  // namespace epilogue
