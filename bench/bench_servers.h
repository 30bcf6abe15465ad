// The servers of a bench run, and where its processes run: what is measured alone on the first core,
// everything else on the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/io/mysql.h"
#include "bench/recorded_traffic.h"
#include "tests/support/database.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/rig.h"

namespace epilogue::bench {

/// Processes that this one starts from now on run on the other cores.
void leave_first_core();
/// The process, with all its threads and those they start, runs on the first `cores` cores, or on all that
/// there are.
void pin_to_first_cores(pid_t process, std::size_t cores = 1);

/// What a process has used.
struct Cost {
    double cpu_s = 0;    ///< user and system
    double peak_mb = 0;  ///< resident memory at its highest
};
Cost cost_of(pid_t process);

constexpr int partitions = 4;

/// Errors are std::runtime_error.
class BenchServers {
  public:
    BenchServers();

    const testing::KafkaBroker& broker() const { return broker_; }
    const testing::Database& server() const { return server_; }

    /// A topic with so many events of the traffic, as if they had come at 2,000 a second until now.
    void fill(const std::string& topic, RecordedTraffic& traffic, std::size_t events,
              int parts = partitions) const;
    /// An empty database of that name.
    void create_database(const std::string& name) const;
    /// A rig that reads this topic, which exists, into a database of its own, with the default configuration
    /// and `more`.
    testing::Rig rig(const std::string& topic, const std::string& database,
                     const testing::Settings& more = {}) const;
    /// A callback `every_turn` in Slack for each of the conversations, each to a channel of its own.
    void watch(const std::string& database, const std::vector<std::string>& conversations) const;

  private:
    testing::KafkaBroker broker_;
    testing::Database server_;
};

/// The conversations of the traffic that are watched.
std::vector<std::string> watched(const RecordedTraffic& traffic);

}  // namespace epilogue::bench
