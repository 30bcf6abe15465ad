// The log of the world: partitions with their records, one consumer group with eager rebalancing, and its
// committed offsets. A rebalance has two phases, as Kafka's: all members give up their partitions and join
// again; then the next generation begins, and each is told what it has.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/record.h"
#include "tests/sim/database.h"
#include "tests/sim/process.h"

namespace epilogue::sim {

class SimConsumer;

struct LogRecord {
    std::string key;
    std::string value;
    Instant timestamp;
    RecordMarks marks = {};
};

class Broker {
  public:
    Broker(Schedule& schedule, Database& database, Oracle& oracle, int partitions)
        : schedule_(schedule),
          database_(database),
          oracle_(oracle),
          logs_(static_cast<std::size_t>(partitions)) {}

    /// The record's timestamp is `age` before now.
    void append(int partition, std::string key, std::string value, Micros age, const RecordMarks& marks = {});
    const std::deque<LogRecord>& log(int partition) const {
        return logs_[static_cast<std::size_t>(partition)].records;
    }
    int partitions() const { return static_cast<int>(logs_.size()); }
    /// Retention removes every record of the partition.
    void lose(int partition);
    /// The first record that is still there.
    std::int64_t low(int partition) const { return logs_[static_cast<std::size_t>(partition)].low; }

    // --- the group ---
    void join(SimConsumer& member);
    /// The broker has not heard of the member for too long, or the member has left.
    void drop(SimConsumer& member);
    /// The member has given up its partitions; the next generation begins when all have.
    void rejoined(SimConsumer& member);
    /// Begins a rebalance within `at_most`, unless one is planned.
    void rebalance_soon(Micros at_most);
    bool is_member(const SimConsumer& member) const;

    /// False when the broker refuses it: of another generation of the group, or not its partition.
    bool commit(const SimConsumer& member, std::uint64_t generation, int partition, NextOffset position);
    std::optional<NextOffset> committed(int partition) const;

  private:
    struct Partition {
        std::deque<LogRecord> records;  ///< addresses stay
        std::int64_t low = 0;
        std::optional<NextOffset> committed;
        const SimConsumer* owner = nullptr;
    };

    void rebalance();
    void begin_generation();
    /// The member is no longer one, and owns nothing.
    void forget(SimConsumer& member);

    Schedule& schedule_;
    Database& database_;
    Oracle& oracle_;
    std::vector<Partition> logs_;
    std::vector<SimConsumer*> members_;
    std::vector<SimConsumer*> giving_up_;  ///< members that the rebalance under way waits for
    std::uint64_t generation_ = 0;
    bool rebalance_planned_ = false;
};

}  // namespace epilogue::sim
