// What happens in a schedule's conversations: their records, their callbacks, and the turns that count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/record.h"
#include "tests/oracle/expected_turn.h"
#include "tests/sim/faults.h"
#include "worker/core/callback.h"

namespace epilogue::sim {

using testing::ExpectedTurn;

/// One record, produced at this virtual time.
struct Produced {
    Micros at{0};
    int partition = 0;
    std::string key;
    std::string value;
    Micros on_its_way{0};  ///< so much later than its timestamp it comes into the log
    RecordMarks marks = {};
};

struct ToldConversation {
    std::string id;
    int partition = 0;
    std::vector<ExpectedTurn> turns;
    /// Events came out of order: its turns are those of a fold over the whole log.
    bool messy = false;
    bool is_forgotten = false;  ///< only its callbacks are left of it
    /// Its turns by the topic alone, where only a catch-up can tell of the others.
    std::optional<std::vector<ExpectedTurn>> in_topic = {};
};

struct WantedCallback {
    std::size_t conversation = 0;
    CallbackOptions options;
    std::int64_t number = 0;  ///< of its thread on the platform: no two share one
    bool late = false;
    bool foreign = false;  ///< a row that others write, to be adopted
    Micros at{0};
    bool from_last = true;
    /// It is told only of turns that came from its own thread: one on GitHub in two.
    bool only_from_here() const { return number % 4 == 1; }
};

struct Workload {
    std::vector<ToldConversation> conversations;
    std::vector<WantedCallback> callbacks;
    std::vector<Produced> records;  ///< ascending by time
    std::size_t poison = 0;         ///< records that have to become dead letters
};

/// How long a V1 `finished` has to stand (settle_ms).
constexpr std::chrono::milliseconds settle{2000};

/// Mode and triggers of a callback.
CallbackOptions draw_options(Random& random);

/// Draws what happens until `end`.
Workload draw_workload(Random random, Faults& faults, int partitions, Micros end);

}  // namespace epilogue::sim
