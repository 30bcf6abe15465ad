// Removing what is old, in chunks: each call is one short transaction over rows that no other transaction
// holds (those that are held come with the next pass). What may go is decided by worker/core/retention.h.
// Doing a chunk twice, or in two workers at once, does no harm.
#pragma once

#include <cstdint>
#include <string>

#include "base/instant.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

/// Where the next chunk of a pass begins.
struct RetentionCursor {
    Instant at;       ///< rows older than that were looked at
    std::string key;  ///< of those at that instant, the ones up to this
};

struct RetentionChunk {
    std::int64_t removed = 0;
    bool is_last = false;  ///< no older row is left to be looked at in this pass
};

/// Errors of all of them: the database's.
class MysqlRetention {
  public:
    static constexpr std::size_t rows_at_once = 500;

    /// `store` has to outlive it.
    explicit MysqlRetention(MysqlStore& store) : store_(store) {}

    /// The database's time.
    Result<Instant> now();
    Result<RetentionChunk> remove_dead_letters(Instant limit);
    Result<RetentionChunk> remove_bodies(Instant limit, RetentionCursor& cursor);
    Result<RetentionChunk> remove_summaries(Instant limit, RetentionCursor& cursor);
    /// With the address and key of the conversation's agent server, and whose it is for the relay.
    Result<RetentionChunk> remove_conversations(Instant limit, RetentionCursor& cursor);
    Result<RetentionChunk> remove_deliveries(Instant limit, RetentionCursor& cursor);

  private:
    MysqlStore& store_;
};

}  // namespace epilogue
