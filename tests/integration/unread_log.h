// A log for claims over a real database without a broker.
#pragma once

#include "worker/consume/partition_log.h"

namespace epilogue::testing {

/// A log of one partition of which nothing has been read yet.
class UnreadLog final : public PartitionLog {
  public:
    std::string cluster_id() override { return "c"; }
    std::string topic_id() override { return "t"; }
    Result<int> partitions() override { return 1; }
    Result<NextOffset> first_position(int) override { return NextOffset{0}; }
    Result<std::optional<RecordFingerprint>> record_at(int, Offset) override {
        return std::optional<RecordFingerprint>();
    }
    Result<void> read_from(int, NextOffset) override { return {}; }
    void stop_reading(int) override {}
    Result<Watermarks> watermarks(int) override { return Watermarks{}; }
    void commit(const std::map<int, NextOffset>&) override {}
    Result<void> commit_and_wait(int, NextOffset) override { return {}; }
};

}  // namespace epilogue::testing
