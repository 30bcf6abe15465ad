// What the workers have to do: conversations generated from a seed, one callback each, and the posts that are
// owed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/oracle/expected_turn.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/random.h"
#include "tests/support/rig.h"

namespace epilogue::testing {

struct GeneratedConversation {
    std::string id;
    std::int64_t number = 0;  ///< of its issue: no two share one
    std::string mode;         ///< of its callback
    std::int64_t callback_id = 0;
    std::vector<ExpectedTurn> turns;
};

class Workload {
  public:
    Workload(Random random, std::size_t conversations);

    /// Writes a callback for each conversation, as others do, and waits until workers have adopted all of
    /// them, which is when they are given their modes.
    void register_callbacks(const Rig& rig);

    /// The records up to this part of the whole (1: all of them) that were not taken yet, in order.
    std::vector<Record> take_until(double fraction);

    std::size_t conversations() const { return conversations_.size(); }
    std::size_t records() const { return records_.size(); }
    /// What has to be seen on the platform at the end.
    std::vector<OwedPost> owed_posts(const std::string& installation) const;

  private:
    std::vector<GeneratedConversation> conversations_;
    std::vector<Record> records_;  ///< in the order of their times, conversations interleaved
    std::size_t taken_ = 0;
};

/// The repository to whose issues they are reported.
constexpr const char* chaos_repo = "octo/chaos";

}  // namespace epilogue::testing
