// Gauges that have to be asked for: lag of the partitions we hold, and the pool's undelivered posts (by the
// worker that holds partition 0, so that one worker exports them). One thread.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "worker/consume/partition_log.h"
#include "worker/consume/partition_queues.h"
#include "worker/mysql/mysql_store.h"
#include "worker/observe/telemetry.h"

namespace epilogue {

class Gauges {
  public:
    Gauges(PartitionQueues& queues, PartitionLog& log, MysqlStore& store, Telemetry telemetry,
           std::string topic, std::vector<std::string> sinks)
        : queues_(queues),
          log_(log),
          store_(store),
          telemetry_(telemetry),
          topic_(std::move(topic)),
          sinks_(std::move(sinks)) {}

    /// Refreshes every two seconds until `stop`.
    void run(const std::stop_token& stop);

  private:
    void refresh_lag(const std::map<int, NextOffset>& positions);
    void refresh_lag_seconds(const std::set<int>& behind);
    void refresh_pool(bool ours);
    // Of the whole pool; false: the database does not tell.
    bool refresh_undelivered();
    bool refresh_parked();
    bool refresh_breakers();
    bool refresh_gaps();
    bool refresh_hindrances();
    void refresh_held(const std::map<int, NextOffset>& positions);

    PartitionQueues& queues_;
    PartitionLog& log_;
    MysqlStore& store_;
    const Telemetry telemetry_;
    const std::string topic_;
    const std::vector<std::string> sinks_;  ///< shown even when they have nothing to deliver
};

}  // namespace epilogue
