// The log of the world: partitions with their records, one consumer group with eager rebalancing, and its
// committed offsets.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/database.h"
#include "tests/sim/process.h"

namespace epilogue::sim {

class SimLog;

struct LogRecord {
    std::string key;
    std::string value;
    Instant timestamp;
};

class Broker {
  public:
    Broker(Schedule& schedule, Database& database, Oracle& oracle, int partitions)
        : schedule_(schedule),
          database_(database),
          oracle_(oracle),
          logs_(static_cast<std::size_t>(partitions)) {}

    /// The record's timestamp is `age` before now.
    void append(int partition, std::string key, std::string value, Micros age);
    const std::deque<LogRecord>& log(int partition) const {
        return logs_[static_cast<std::size_t>(partition)].records;
    }
    int partitions() const { return static_cast<int>(logs_.size()); }

    // --- the group ---
    void join(SimLog& member);
    /// The broker has not heard of it for too long, or it said good-bye.
    void drop(SimLog& member);
    void rebalance();
    void rebalance_soon(Micros at_most);
    bool is_member(const SimLog& member) const;
    std::uint64_t generation() const { return generation_; }

    /// False when the broker refuses it: of another generation of the group, or not its partition.
    bool commit(const SimLog& member, std::uint64_t generation, int partition, NextOffset position);
    std::optional<NextOffset> committed(int partition) const;

  private:
    struct Partition {
        std::deque<LogRecord> records;  ///< addresses stay
        std::optional<NextOffset> committed;
        const SimLog* owner = nullptr;
    };

    Schedule& schedule_;
    Database& database_;
    Oracle& oracle_;
    std::vector<Partition> logs_;
    std::vector<SimLog*> members_;
    std::uint64_t generation_ = 0;
    bool rebalance_planned_ = false;
};

}  // namespace epilogue::sim
