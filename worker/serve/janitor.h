// The janitor: removes what is older than [retention] says, a pass each hour, in chunks with pauses between
// them. Of a pool the worker that holds partition 0 does it; two at once do no harm. One thread.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "worker/core/retention.h"
#include "worker/mysql/retention_rows.h"

namespace epilogue {

/// What the janitor tells its observer (metrics).
struct JanitorObserver {
    /// So many were removed: "dead_letter", "body", "summary", "conversation" or "delivery".
    std::function<void(std::string_view what, std::int64_t count)> removed = [](auto, auto) {};
};

class Janitor {
  public:
    /// `is_ours` says whether this worker is the one that does it now; `store` has to outlive it.
    Janitor(MysqlStore& store, RetentionRules rules, std::function<bool()> is_ours, JanitorObserver observer)
        : rows_(store), rules_(rules), is_ours_(std::move(is_ours)), observer_(std::move(observer)) {}

    /// Passes until `stop`.
    void run(const std::stop_token& stop);
    /// One pass. Ends early, without an error, at `stop` or when another worker has to do it. Errors: the
    /// database's; what was removed until then stays removed.
    Result<void> pass(const std::stop_token& stop);

  private:
    using NextChunk = std::function<Result<RetentionChunk>()>;
    Result<std::int64_t> remove_all(std::string_view what, const NextChunk& next,
                                    const std::stop_token& stop) const;

    MysqlRetention rows_;
    /// How far bodies were removed: a delivery keeps its row for years after its body.
    RetentionCursor bodies_;
    std::optional<Instant> bodies_from_start_;  ///< when that last began with the oldest row
    const RetentionRules rules_;
    const std::function<bool()> is_ours_;
    const JanitorObserver observer_;
};

}  // namespace epilogue
