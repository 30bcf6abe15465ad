// Committed positions follow the stored ones: watched from the outside, all the time.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "tests/support/rig.h"

namespace epilogue::testing {

/// Both as they were read, one soon after the other.
struct PositionSample {
    PartitionOffsets committed;
    PartitionOffsets stored;
};

/// From its construction on it reads the committed positions of a rig, and then the stored ones, again and
/// again, on a thread of its own. Not thread-safe.
class PositionWatch {
  public:
    enum class Servers { always_there, come_and_go };
    /// Servers that come and go may fail to answer.
    explicit PositionWatch(const Rig& rig, Servers servers = Servers::always_there);

    /// Ends the watch; a line for each time that more was committed than stored, or that nothing could be
    /// read.
    const std::vector<std::string>& faults();
    /// Ends the watch; all that it has read, without samples that equal the one before.
    const std::vector<PositionSample>& seen();
    /// How often it has looked, once the watch is ended.
    int samples() const { return samples_; }

  private:
    void run(const std::stop_token& stop);
    void sample();
    void end();

    const Rig& rig_;
    const Servers servers_;
    int samples_ = 0;
    std::vector<PositionSample> seen_;
    std::vector<std::string> faults_;
    std::jthread thread_;
};

}  // namespace epilogue::testing
