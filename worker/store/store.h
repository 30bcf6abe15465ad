// The port to the database: transactions, their commit and the installation they belong to. The rows:
// transaction.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "worker/store/transaction.h"

namespace epilogue {

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
    virtual Result<void> read_only(const Work& work) = 0;
    /// Ends another session, so that its open transaction releases its locks. Unknown ids are fine.
    virtual Result<void> end_session(std::int64_t connection_id) = 0;
    /// What `migrate` wrote once.
    virtual Result<Installation> installation() = 0;
};

}  // namespace epilogue
