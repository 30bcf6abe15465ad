// What the loops remember of a partition's troubles, from one work on it to the next, whichever loop does it.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>

namespace epilogue {

/// Thread-safe.
class PartitionTroubles {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// One more work on the partition has failed; returns how many did in a row.
    int failed(int partition);
    /// A work has succeeded.
    void works_again(int partition);

    /// The partition's log was found to be shorter than our position at `now`. True when it has been for so
    /// long that it is taken for another log: a new leader may not know its log's end for a moment.
    bool is_short_for_long(int partition, SteadyTime now);
    /// A claim has found the partition to be another worker's; true the first time.
    bool owned_elsewhere(int partition);
    /// The partition was claimed; true when claims before had found it to be another worker's.
    bool claimed(int partition);

    /// Whether the brokers may be asked about logs: not for a while after they did not answer.
    bool may_verify(SteadyTime now) const;
    void could_not_verify(SteadyTime now);

  private:
    /// How long a log has been shorter than our position.
    struct ShortLogDoubt {
        SteadyTime since;
        SteadyTime last;
    };

    mutable std::mutex mutex_;
    std::map<int, int> failures_;  ///< in a row
    std::map<int, ShortLogDoubt> short_logs_;
    std::set<int> owned_elsewhere_;
    SteadyTime verify_not_before_{};
};

}  // namespace epilogue
