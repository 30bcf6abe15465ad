// One worker's client of the broker: the product's Log, and what its poll thread does
// (worker/consume/poller.cpp).
#pragma once

#include <functional>
#include <map>
#include <set>

#include "tests/sim/broker.h"
#include "worker/consume/loop.h"
#include "worker/consume/partition_queues.h"

namespace epilogue::sim {

class SimLog final : public PartitionLog {
  public:
    SimLog(Broker& broker, Process& process, PartitionQueues& queues, std::function<void()> news)
        : broker_(broker), process_(process), queues_(queues), news_(std::move(news)) {}

    std::string cluster_id() override { return "sim"; }
    Result<int> partitions() override;
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset) override;
    Result<NextOffset> first_position(int partition) override;
    Result<void> read_from(int partition, NextOffset position) override;
    void stop_reading(int partition) override;
    Result<Watermarks> watermarks(int partition) override;
    void commit(const std::map<int, NextOffset>& positions) override;
    Result<void> commit_and_wait(int partition, NextOffset position) override;

    // --- the poll thread ---
    void assigned(const std::vector<int>& partitions);
    /// All of them. `lost`: the broker has given them to others already.
    void revoked(bool lost);
    /// Room for more after a batch.
    void partitions_to_resume();
    void appended(int partition);

    /// No packet gets through for `time`.
    void cut_off(Micros time);
    bool is_cut_off() const { return cut_off_until_ > process_.schedule().now(); }
    Process& process() { return process_; }
    bool kicked = false;  ///< the group goes on without it, and it does not know yet

  private:
    struct Reading {
        std::int64_t position = 0;
        bool active = false;
        bool full = false;
        std::uint64_t epoch = 0;
        bool fetching = false;
    };
    void fetch_soon(int partition);
    void fetch(int partition, std::uint64_t epoch);

    Broker& broker_;
    Process& process_;
    PartitionQueues& queues_;
    const std::function<void()> news_;
    std::map<int, Reading> reading_;
    std::uint64_t next_epoch_ = 1;
    Micros cut_off_until_{0};
    Micros last_commit_lands_{0};
    std::uint64_t generation_ = 0;  ///< of the group, as this member knows it
};

}  // namespace epilogue::sim
