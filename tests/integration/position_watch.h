// Committed positions follow the stored ones: watched from the outside, all the time.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "tests/integration/stage.h"

namespace epilogue::testing {

/// From its construction on it reads the committed positions of a stage, and then the stored ones, again and
/// again, on a thread of its own. Not thread-safe.
class PositionWatch {
  public:
    explicit PositionWatch(const Stage& stage);

    /// Ends the watch; a line for each time that more was committed than stored, or that nothing could be
    /// read.
    const std::vector<std::string>& faults();
    /// How often it has looked, once the watch is ended.
    int samples() const { return samples_; }

  private:
    void run(const std::stop_token& stop);
    void sample();

    const Stage& stage_;
    int samples_ = 0;
    std::vector<std::string> faults_;
    std::jthread thread_;
};

}  // namespace epilogue::testing
